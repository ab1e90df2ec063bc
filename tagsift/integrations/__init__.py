"""tagsift inside other libraries: a component of spaCy pipelines."""
