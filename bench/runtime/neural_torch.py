#!/usr/bin/env python3
"""Times the networks of bench_neural in PyTorch on the CPU, same shapes, random weights.

usage: neural_torch.py [CASE ...] [THREADS ...]      (default: all cases, 1 and 2 threads)

Prints one line per case and thread count: name, threads, milliseconds by the clock and
of CPU time (the least of a few runs). Each thread count runs in a process of its own, since
the BLAS under PyTorch reads the number from the environment when it is loaded and does not
heed torch.set_num_threads.
bench_neural --torch runs it for each of its cases. Needs python3-torch.
"""
import os
import subprocess
import sys
import time

THREADS = [int(a) for a in sys.argv[1:] if a.isdigit()] or [1, 2]
WANTED = [a for a in sys.argv[1:] if not a.isdigit()]
if len(THREADS) > 1:
    for count in THREADS:
        subprocess.run([sys.executable, __file__, *WANTED, str(count)], check=True)
    sys.exit()
for library in ('OMP', 'OPENBLAS', 'MKL', 'BLIS'):
    os.environ[library + '_NUM_THREADS'] = str(THREADS[0])

import torch  # noqa: E402 (after the environment is set)
import torch.nn.functional as F  # noqa: E402


def conv(c_in, c_out, k=3, stride=1):
    return torch.nn.Conv2d(c_in, c_out, k, stride, k // 2)


class SuperPoint(torch.nn.Module):
    def __init__(self):
        super().__init__()
        widths = [(1, 64), (64, 64), (64, 64), (64, 64), (64, 128), (128, 128), (128, 128), (128, 128)]
        self.encoder = torch.nn.ModuleList([conv(a, b) for a, b in widths])
        self.score = torch.nn.ModuleList([conv(128, 256), conv(256, 65, 1)])
        self.desc = torch.nn.ModuleList([conv(128, 256), conv(256, 256, 1)])

    def forward(self, x):
        for i, layer in enumerate(self.encoder):
            x = F.relu(layer(x))
            if i in (1, 3, 5):
                x = F.max_pool2d(x, 2, 2)
        scores = F.softmax(self.score[1](F.relu(self.score[0](x))), 1)[:, :64]
        scores = F.pixel_shuffle(scores, 8)[0, 0]
        desc = F.normalize(self.desc[1](F.relu(self.desc[0](x))), dim=1)
        return select(scores, desc, 1024, 4)


def select(scores, desc, top_k, radius):
    def pooled(v):
        return F.max_pool2d(v[None, None], 2 * radius + 1, 1, radius)[0, 0]

    peak = scores == pooled(scores)
    for _ in range(2):
        near = pooled(peak.float()) > 0
        rest = torch.where(near, torch.zeros_like(scores), scores)
        peak = peak | ((rest == pooled(rest)) & ~near)
    yx = torch.nonzero(peak)
    best = torch.topk(scores[peak], min(top_k, len(yx)))
    h, w = scores.shape
    xy = yx[best.indices].flip(1).float()
    grid = (xy - 3.5) / torch.tensor([w - 4.5, h - 4.5]) * 2 - 1
    sampled = F.grid_sample(desc, grid[None, :, None], align_corners=True)[0, :, :, 0]
    return xy, best.values, F.normalize(sampled, dim=0)


class Mlp(torch.nn.Module):
    def __init__(self, widths):
        super().__init__()
        layers = []
        for i in range(1, len(widths)):
            layers.append(torch.nn.Conv1d(widths[i - 1], widths[i], 1))
            if i + 1 < len(widths):
                layers += [torch.nn.BatchNorm1d(widths[i]), torch.nn.ReLU()]
        self.net = torch.nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x)


class SuperGlue(torch.nn.Module):
    def __init__(self, layers=18, dim=256):
        super().__init__()
        self.encoder = Mlp([3, 32, 64, 128, 256, dim])
        lin = torch.nn.Conv1d
        self.layers = torch.nn.ModuleList([
            torch.nn.ModuleList([lin(dim, dim, 1), lin(dim, dim, 1), lin(dim, dim, 1), lin(dim, dim, 1),
                                 Mlp([2 * dim, 2 * dim, dim])]) for _ in range(layers)])
        self.final = lin(dim, dim, 1)

    @staticmethod
    def message(layer, x, source):
        b, dim, n = x.shape
        q, k, v = (p(s).view(b, dim // 4, 4, -1) for p, s in zip(layer[:3], (x, source, source)))
        prob = F.softmax(torch.einsum('bdhn,bdhm->bhnm', q, k) / 8, -1)
        out = torch.einsum('bhnm,bdhm->bdhn', prob, v).contiguous().view(b, dim, -1)
        return layer[4](torch.cat([x, layer[3](out)], 1))

    def forward(self, kp0, kp1, d0, d1):
        d0, d1 = d0 + self.encoder(kp0), d1 + self.encoder(kp1)
        for i, layer in enumerate(self.layers):
            s0, s1 = (d0, d1) if i % 2 == 0 else (d1, d0)
            d0, d1 = d0 + self.message(layer, d0, s0), d1 + self.message(layer, d1, s1)
        scores = torch.einsum('bdn,bdm->bnm', self.final(d0), self.final(d1)) / 16
        return sinkhorn(scores, 20)


def sinkhorn(scores, iterations):
    b, m, n = scores.shape
    z = F.pad(scores, (0, 1, 0, 1), value=1.0)
    norm = -torch.log(torch.tensor(float(m + n)))
    mu = torch.cat([norm.expand(m), (torch.log(torch.tensor(float(n))) + norm)[None]])[None]
    nu = torch.cat([norm.expand(n), (torch.log(torch.tensor(float(m))) + norm)[None]])[None]
    u, v = torch.zeros_like(mu), torch.zeros_like(nu)
    for _ in range(iterations):
        u = mu - torch.logsumexp(z + v.unsqueeze(1), 2)
        v = nu - torch.logsumexp(z + u.unsqueeze(2), 1)
    z = z + u.unsqueeze(2) + v.unsqueeze(1) - norm
    return z[:, :-1, :-1].max(2), z[:, :-1, :-1].max(1)


class XFeat(torch.nn.Module):
    def __init__(self):
        super().__init__()

        def seq(*rows):
            parts = []
            for row in rows:
                parts += [conv(*row), torch.nn.ReLU()]
            return torch.nn.Sequential(*parts)

        self.skip = torch.nn.Sequential(torch.nn.AvgPool2d(4, 4), conv(1, 24, 1))
        self.block1 = seq((1, 4), (4, 8, 3, 2), (8, 8), (8, 24, 3, 2))
        self.block2 = seq((24, 24), (24, 24))
        self.block3 = seq((24, 64, 3, 2), (64, 64), (64, 64, 1))
        self.block4 = seq((64, 64, 3, 2), (64, 64), (64, 64))
        self.block5 = seq((64, 128, 3, 2), (128, 128), (128, 128), (128, 64, 1))
        self.fusion = torch.nn.Sequential(*seq((64, 64), (64, 64)), conv(64, 64, 1))
        self.heat = torch.nn.Sequential(*seq((64, 64, 1), (64, 64, 1)), conv(64, 1, 1), torch.nn.Sigmoid())
        self.keys = torch.nn.Sequential(*seq((64, 64, 1), (64, 64, 1), (64, 64, 1)), conv(64, 65, 1))

    def forward(self, x):
        x = F.instance_norm(x)
        x2 = self.block2(self.block1(x) + self.skip(x))
        x3 = self.block3(x2)
        x4 = self.block4(x3)
        x5 = self.block5(x4)
        size = x3.shape[-2:]
        feats = self.fusion(x3 + F.interpolate(x4, size, mode='bilinear') + F.interpolate(x5, size, mode='bilinear'))
        heat = self.heat(feats)
        keys = F.pixel_shuffle(F.softmax(self.keys(F.pixel_unshuffle(x, 8)), 1)[:, :64], 8)
        peak = keys == F.max_pool2d(keys, 5, 1, 2)
        yx = torch.nonzero(peak[0, 0])
        h, w = x.shape[-2:]
        grid = (yx.flip(1).float() / torch.tensor([w - 1.0, h - 1.0]) * 2 - 1)[None, :, None]
        score = F.grid_sample(keys, grid, mode='nearest', align_corners=False)
        score = (score * F.grid_sample(heat, grid, align_corners=False)).flatten()
        best = torch.topk(score, min(1024, len(score))).indices
        desc = F.grid_sample(F.normalize(feats, dim=1), grid[:, best], mode='bicubic', align_corners=False)
        return yx[best], score[best], F.normalize(desc[0, :, :, 0], dim=0)


class LightGlue(torch.nn.Module):
    def __init__(self, layers, dim, heads, dim_in):
        super().__init__()
        lin = torch.nn.Linear
        self.heads = heads
        self.project = lin(dim_in, dim)
        self.fourier = lin(2, dim // heads // 2, bias=False)

        def ffn():
            return torch.nn.Sequential(lin(2 * dim, 2 * dim), torch.nn.LayerNorm(2 * dim), torch.nn.GELU(),
                                       lin(2 * dim, dim))

        self.layers = torch.nn.ModuleList([
            torch.nn.ModuleList([lin(dim, 3 * dim), lin(dim, dim), ffn(), lin(dim, dim), lin(dim, dim), lin(dim, dim),
                                 ffn()]) for _ in range(layers)])
        self.final, self.matchable = lin(dim, dim), lin(dim, 1)

    def split(self, t):
        return t.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    @staticmethod
    def join(t):
        return t.transpose(1, 2).flatten(-2)

    @staticmethod
    def rotate(t, enc):
        a, b = t.unflatten(-1, (-1, 2)).unbind(-1)
        return t * enc[0] + torch.stack((-b, a), -1).flatten(-2) * enc[1]

    def self_layer(self, layer, x, enc):
        q, k, v = layer[0](x).unflatten(-1, (self.heads, -1, 3)).transpose(1, 2).unbind(-1)
        q, k = self.rotate(q, enc), self.rotate(k, enc)
        prob = F.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, -1)
        return x + layer[2](torch.cat([x, layer[1](self.join(prob @ v))], -1))

    def cross_layer(self, layer, x0, x1):
        q0, q1, v0, v1 = (self.split(t) for t in (layer[3](x0), layer[3](x1), layer[4](x0), layer[4](x1)))
        sim = q0 @ q1.transpose(-1, -2) * q0.shape[-1] ** -0.5
        m0 = F.softmax(sim, -1) @ v1
        m1 = F.softmax(sim.transpose(-1, -2).contiguous(), -1) @ v0
        x0 = x0 + layer[6](torch.cat([x0, layer[5](self.join(m0))], -1))
        return x0, x1 + layer[6](torch.cat([x1, layer[5](self.join(m1))], -1))

    def forward(self, kp0, kp1, d0, d1):
        x0, x1 = self.project(d0), self.project(d1)
        encodings = []
        for kp in (kp0, kp1):
            p = self.fourier(kp)
            encodings.append(torch.stack([p.cos(), p.sin()]).unsqueeze(-3).repeat_interleave(2, -1))
        for layer in self.layers:
            x0, x1 = self.self_layer(layer, x0, encodings[0]), self.self_layer(layer, x1, encodings[1])
            x0, x1 = self.cross_layer(layer, x0, x1)
        sim = self.final(x0) @ self.final(x1).transpose(-1, -2)
        scores = F.log_softmax(sim, 2) + F.log_softmax(sim, 1)
        scores = scores + F.logsigmoid(self.matchable(x0)) + F.logsigmoid(self.matchable(x1)).transpose(1, 2)
        return scores.max(2), scores.max(1)


def fastest(call, min_seconds=2.0, min_runs=3):
    """The least milliseconds by the clock and of CPU time."""
    call()
    wall, cpu, total, runs = float('inf'), float('inf'), 0.0, 0
    while runs < min_runs or total < min_seconds:
        start, cpu_start = time.perf_counter(), time.process_time()
        call()
        seconds = time.perf_counter() - start
        wall, cpu = min(wall, seconds), min(cpu, time.process_time() - cpu_start)
        total, runs = total + seconds, runs + 1
    return f'{wall * 1e3:.2f} {cpu * 1e3:.2f}'


def cases():
    superpoint, xfeat = SuperPoint().eval(), XFeat().eval()
    for w, h in ((640, 480), (1024, 768)):
        image = torch.rand(1, 1, h, w)
        yield f'superpoint_{w}x{h}', lambda image=image: superpoint(image)
        yield f'xfeat_{w}x{h}', lambda image=image: xfeat(image)
    superglue = SuperGlue().eval()
    lighterglue, lightglue = LightGlue(6, 96, 1, 64).eval(), LightGlue(9, 256, 4, 256).eval()
    for n in (1024, 2048):
        kp = [torch.rand(1, 3, n), torch.rand(1, 3, n)]
        d = [F.normalize(torch.randn(1, 256, n), dim=1) for _ in range(2)]
        yield f'superglue_{n}', lambda kp=kp, d=d: superglue(*kp, *d)
        kp = [torch.rand(1, n, 2), torch.rand(1, n, 2)]
        d = [F.normalize(torch.randn(1, n, 64), dim=2) for _ in range(2)]
        yield f'lighterglue_{n}', lambda kp=kp, d=d: lighterglue(*kp, *d)
        d = [F.normalize(torch.randn(1, n, 256), dim=2) for _ in range(2)]
        yield f'lightglue_{n}', lambda kp=kp, d=d: lightglue(*kp, *d)


def main():
    torch.manual_seed(1)
    torch.set_num_threads(THREADS[0])
    with torch.inference_mode():
        for name, call in cases():
            if not WANTED or name in WANTED:
                print(name, THREADS[0], fastest(call), flush=True)


if __name__ == '__main__':
    main()
