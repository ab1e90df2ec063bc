"""GPyTorch's variational GP, the same kernel and bound: the same posterior moments."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.sgppsl.likelihoods import Piecewise
from tagsift.sgppsl.solver import ascend, start
from tests.reference.problems import small

torch = pytest.importorskip("torch")
gpytorch = pytest.importorskip("gpytorch")


def build_model(problem, points):
    """One sparse variational GP per label, whitened, with RBF kernels of the paper."""

    class Labels(gpytorch.models.ApproximateGP):
        def __init__(self):
            Z = torch.as_tensor(problem.X[points])
            batch = torch.Size([problem.n_labels])
            strategy = gpytorch.variational.VariationalStrategy(
                self,
                Z.expand(problem.n_labels, -1, -1).contiguous(),
                gpytorch.variational.CholeskyVariationalDistribution(
                    len(points), batch_shape=batch
                ),
                learn_inducing_locations=False,
                jitter_val=1e-10,
            )
            super().__init__(strategy)
            self.mean_module = gpytorch.means.ZeroMean(batch_shape=batch)
            kernel = gpytorch.kernels.RBFKernel(batch_shape=batch)
            self.covar_module = gpytorch.kernels.ScaleKernel(kernel, batch_shape=batch)
            # exp(−θ|x − z|²) is exp(−|x − z|² / 2ℓ²) with ℓ = 1/√(2θ).
            theta = torch.as_tensor(problem.kernel.theta)
            kernel.lengthscale = (2 * theta).rsqrt()[:, None, None]
            self.covar_module.outputscale = torch.as_tensor(problem.kernel.amplitude)

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(x), self.covar_module(x)
            )

    return Labels().double()


def test_gpytorch_finds_the_same_moments():
    torch.manual_seed(0)
    problem = small(1, lengths=(1,) * 12, amplitude=4.0)
    points = np.array([0, 2, 4, 6, 8, 10])
    weights = problem.labels().uniform()
    likelihood = Piecewise(weights, np.zeros((3, 3)))
    fixed, _ = problem.problem("jensen", points)
    state = start(fixed, weights, problem.n_labels)
    state, bounds = ascend(
        fixed, likelihood, state, n_mean=20, n_variance=60, tol=1e-14
    )

    model = build_model(problem, points)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_("variational" in name)
    X, w = torch.as_tensor(problem.X), torch.as_tensor(weights)
    free = [p for p in model.parameters() if p.requires_grad]
    search = torch.optim.LBFGS(
        free,
        max_iter=1500,
        history_size=50,
        tolerance_grad=1e-9,
        tolerance_change=1e-14,
        line_search_fn="strong_wolfe",
    )

    def bound():
        f = model(X)
        mu, var = f.mean.T, f.variance.T  # [N, L]
        # Equation (21), weighted, less the KL divergence of GPyTorch.
        P = (w * mu).sum() - torch.logsumexp(mu + 0.5 * var, dim=1).sum()
        return P - model.variational_strategy.kl_divergence().sum()

    def closure():
        search.zero_grad()
        loss = -bound()
        loss.backward()
        return loss

    model.train()
    with gpytorch.settings.fast_computations(False, False, False):
        model(X)  # sets the variational distribution once
        search.step(closure)
        with torch.no_grad():
            value = float(bound())
            f = model(X)
    assert value == pytest.approx(bounds[-1], abs=1e-4)
    np.testing.assert_allclose(f.mean.T.numpy(), state.q.mu, atol=1e-3)
    np.testing.assert_allclose(f.variance.T.numpy(), state.q.var, atol=1e-3)


@pytest.mark.parametrize("tilted", [False, True], ids=["jensen", "tilted"])
def test_autograd_over_full_covariances_finds_the_same_moments(tilted):
    # No fixed-point structure here: every μ and every entry of a factor of V is free,
    # and so are the transitions.
    problem = small(2, lengths=(3, 4), n_labels=2, amplitude=4.0)
    likelihood = problem.piecewise()
    fixed, _ = problem.problem("tilted" if tilted else "jensen")
    state = start(fixed, likelihood.weights, 2)
    state, bounds = ascend(
        fixed, likelihood, state, n_mean=20, n_variance=80, tol=1e-15
    )

    N, L = problem.mask.shape
    K = torch.stack(
        [
            torch.as_tensor(problem.kernel.gram(problem.distances().ZN, y))
            for y in (0, 1)
        ]
    )
    K_inverse = torch.linalg.inv(K)
    w, W = torch.as_tensor(likelihood.weights), torch.as_tensor(likelihood.pair_weights)
    mu = torch.zeros(L, N, dtype=torch.float64, requires_grad=True)
    C = torch.linalg.cholesky(K).contiguous().requires_grad_(True)
    mu_T = torch.zeros(L, L, dtype=torch.float64, requires_grad=True)
    log_T = torch.zeros(L, L, dtype=torch.float64, requires_grad=True)
    a = torch.zeros(N, L, dtype=torch.float64, requires_grad=tilted)
    free = [mu, C, mu_T, log_T, a] if tilted else [mu, C, mu_T, log_T]
    search = torch.optim.LBFGS(
        free,
        max_iter=3000,
        history_size=60,
        tolerance_grad=1e-10,
        tolerance_change=1e-15,
        line_search_fn="strong_wolfe",
    )

    def bound():
        lower = torch.tril(C)
        V = lower @ lower.mT
        var, means = torch.diagonal(V, dim1=1, dim2=2).T, mu.T  # [N, L]
        score = means + 0.5 * (1 - 2 * a) * var
        P = (w * means).sum() - torch.logsumexp(score, dim=1).sum()
        P = P - 0.5 * (a * a * var).sum()
        var_T = torch.exp(log_T)
        P = P + (W * mu_T).sum()
        P = P - (W.sum(1) * torch.logsumexp(mu_T + 0.5 * var_T, dim=1)).sum()
        kl = 0.5 * (torch.linalg.slogdet(K)[1] - torch.linalg.slogdet(V)[1]).sum()
        kl = kl + 0.5 * ((K_inverse * V).sum() - N * L)
        kl = kl + 0.5 * (mu * torch.einsum("yij,yj->yi", K_inverse, mu)).sum()
        kl = kl + 0.5 * (var_T - 1 - log_T + mu_T**2).sum()
        return P - kl

    def closure():
        search.zero_grad()
        loss = -bound()
        loss.backward()
        return loss

    search.step(closure)
    with torch.no_grad():
        lower = torch.tril(C)
        var = torch.diagonal(lower @ lower.mT, dim1=1, dim2=2).T
        assert float(bound()) == pytest.approx(bounds[-1], abs=1e-5)
    np.testing.assert_allclose(mu.detach().numpy().T, state.q.mu, atol=1e-3)
    np.testing.assert_allclose(var.numpy(), state.q.var, atol=1e-3)
    np.testing.assert_allclose(mu_T.detach().numpy(), state.q.mu_T, atol=1e-3)
    np.testing.assert_allclose(np.exp(log_T.detach().numpy()), state.q.var_T, atol=1e-3)
