"""The vision transformer, with the names of modules that PyTorch-Pretrained-ViT's releases use."""

import torch
from torch import nn
from torch.nn import functional

_EPSILON = 1e-6  # of layer normalisation, as in the release


class _SelfAttention(nn.Module):
    """Scaled dot products between tokens, in several heads; the projection of what comes out is the block's."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.proj_q = nn.Linear(width, width)
        self.proj_k = nn.Linear(width, width)
        self.proj_v = nn.Linear(width, width)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        queries, keys, values = (
            projection(tokens).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for projection in (self.proj_q, self.proj_k, self.proj_v)
        )
        return functional.scaled_dot_product_attention(queries, keys, values).transpose(1, 2).flatten(2)


class _FeedForward(nn.Module):
    """The same two layers for each token."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(width, inner)
        self.fc2 = nn.Linear(inner, width)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.fc2(functional.gelu(self.fc1(tokens)))


class _Block(nn.Module):
    def __init__(self, width: int, inner: int, heads: int) -> None:
        super().__init__()
        self.attn = _SelfAttention(width, heads)
        self.proj = nn.Linear(width, width)
        self.norm1 = nn.LayerNorm(width, eps=_EPSILON)
        self.pwff = _FeedForward(width, inner)
        self.norm2 = nn.LayerNorm(width, eps=_EPSILON)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        tokens = tokens + self.proj(self.attn(self.norm1(tokens)))
        return tokens + self.pwff(self.norm2(tokens))


class _Transformer(nn.Module):
    def __init__(self, layers: int, width: int, inner: int, heads: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(_Block(width, inner, heads) for _ in range(layers))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            tokens = block(tokens)
        return tokens


class _Positions(nn.Module):
    def __init__(self, tokens: int, width: int) -> None:
        super().__init__()
        self.pos_embedding = nn.Parameter(torch.empty(1, tokens, width))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return tokens + self.pos_embedding


class VisionTransformer(nn.Module):
    """Vision transformer [1]_: patches as tokens after a class token, learned positions, norms before each part.

    `width` is that of a token, `inner` that inside the feed-forward part; the classifier reads the class token.

    References
    ----------
    .. [1] Dosovitskiy et al. 2021, https://openreview.net/forum?id=YicbFdNTTy

    Examples
    --------
    >>> network = VisionTransformer(image_size=64, patch_size=32, width=8, layers=1, heads=2, inner=16, classes=5)
    >>> network(torch.zeros(2, 3, 64, 64)).shape
    torch.Size([2, 5])
    """

    def __init__(
        self, *, image_size: int, patch_size: int, width: int, layers: int, heads: int, inner: int, classes: int
    ) -> None:
        super().__init__()
        self.patch_embedding = nn.Conv2d(3, width, patch_size, stride=patch_size)
        self.class_token = nn.Parameter(torch.zeros(1, 1, width))
        self.positional_embedding = _Positions((image_size // patch_size) ** 2 + 1, width)
        self.transformer = _Transformer(layers, width, inner, heads)
        self.norm = nn.LayerNorm(width, eps=_EPSILON)
        self.fc = nn.Linear(width, classes)
        nn.init.normal_(self.positional_embedding.pos_embedding, std=0.02)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.normal_(module.bias, std=1e-6)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        patches = self.patch_embedding(images).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.class_token.expand(len(images), -1, -1), patches], dim=1)
        tokens = self.transformer(self.positional_embedding(tokens))
        return self.fc(self.norm(tokens)[:, 0])
