"""A bank of quadrature Gabor filters, evaluated on a grid of positions."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

_NEGLIGIBLE = 1e-4  # of a transfer function's maximum
_FAR = 1e-12  # of its gain; what is smaller is not computed


class GaborFilters(NamedTuple):
    """Parameters of Gabor filters, one value per filter.

    Attributes
    ----------
    orientation : ndarray
        Orientation of the preferred grating's stripes in degrees, counter-clockwise from horizontal.
    frequency : ndarray
        Preferred spatial frequency in cycles per degree of visual angle.
    sigma_across, sigma_along : ndarray
        Standard deviations of the Gaussian envelope across and along the stripes, in degrees of visual angle.
    """

    orientation: NDArray[np.float64]
    frequency: NDArray[np.float64]
    sigma_across: NDArray[np.float64]
    sigma_along: NDArray[np.float64]

    @classmethod
    def from_bandwidths(
        cls,
        *,
        orientation: ArrayLike,
        frequency: ArrayLike,
        frequency_bandwidth: ArrayLike,
        orientation_bandwidth: ArrayLike,
    ) -> "GaborFilters":
        """Make filters from tuning widths, as physiologists report them.

        Parameters
        ----------
        orientation : array_like
            Preferred orientations in degrees.
        frequency : array_like
            Preferred spatial frequencies in cycles per degree.
        frequency_bandwidth : array_like
            Full width at half height of spatial frequency tuning, in octaves.
        orientation_bandwidth : array_like
            Full width at half height of orientation tuning, in degrees, below 180.

        Examples
        --------
        >>> filters = GaborFilters.from_bandwidths(
        ...     orientation=[0.0], frequency=[2.0], frequency_bandwidth=[1.4], orientation_bandwidth=[40.0])
        >>> filters.sigma_across.round(3), filters.sigma_along.round(3)
        (array([0.208]), array([0.257]))
        """
        orientation, frequency, octaves, degrees = np.broadcast_arrays(
            np.asarray(orientation, float),
            np.asarray(frequency, float),
            np.asarray(frequency_bandwidth, float),
            np.asarray(orientation_bandwidth, float),
        )
        half_height = np.sqrt(2 * np.log(2)) / (2 * np.pi * frequency)
        return cls(
            orientation=orientation,
            frequency=frequency,
            sigma_across=half_height * (2**octaves + 1) / (2**octaves - 1),
            sigma_along=half_height / np.tan(np.deg2rad(degrees) / 2),
        )


class GaborBank:
    """Responses of quadrature pairs of Gabor filters at the centres of a grid over the image.

    A filter's response is a complex number: its real part is the even (cosine) filter's response, its imaginary part
    the odd (sine) one's. A grating of the preferred orientation and frequency, of contrast c, gives a magnitude of c.
    Uniform images give 0: the even filter's response to the mean is subtracted. Beyond the image, contrast is 0.

    Parameters
    ----------
    filters : GaborFilters
        Filters of the bank.
    size : int
        Height and width of the images in pixels, a multiple of `grid`.
    visual_degrees : float
        Visual angle that the images span, in degrees.
    grid : int
        Positions in a row and in a column; position i is centred on pixel ``(i + 1/2) · size / grid``.
    margin : float
        Contrast-free border around the image, as a multiple of the distance between positions, rounded up. Filters
        whose envelope reaches further than twice the border see the opposite edge of the image.
    dtype : numpy dtype
        ``complex64`` or ``complex128``.

    Raises
    ------
    ValueError
        If a filter prefers a frequency that the pixels cannot represent, or `size` is not a multiple of `grid`.

    Notes
    -----
    Filtering is a multiplication in the Fourier domain. There, sampling every k-th pixel is adding up the spectrum's
    blocks (aliasing), so that only the few positions of the grid are transformed back. Where a transfer function is
    negligible (below 1e-4 of its maximum), it is not evaluated.

    Examples
    --------
    >>> import numpy as np
    >>> filters = GaborFilters.from_bandwidths(
    ...     orientation=[0.0, 90.0], frequency=2.0, frequency_bandwidth=1.4, orientation_bandwidth=40.0)
    >>> bank = GaborBank(filters, size=64, visual_degrees=8, grid=4)
    >>> rows = np.arange(64)[:, np.newaxis] * np.ones(64)
    >>> horizontal = np.cos(2 * np.pi * 2.0 * rows * 8 / 64)
    >>> magnitude = np.abs(bank(horizontal))[:, 1, 1]
    >>> bool(magnitude[0] > 0.95), bool(magnitude[1] < 0.05)
    (True, True)
    """

    def __init__(
        self,
        filters: GaborFilters,
        *,
        size: int,
        visual_degrees: float,
        grid: int,
        margin: float = 2.0,
        dtype: type[np.complexfloating] = np.complex64,
    ) -> None:
        pixels_per_degree = size / visual_degrees
        if size % grid:
            raise ValueError(f"images of {size} pixels do not divide into {grid} positions; choose a divisor of {size}")
        nyquist = pixels_per_degree / 2
        if np.max(filters.frequency) >= nyquist:
            raise ValueError(
                f"a filter prefers {np.max(filters.frequency):.3g} cycles per degree, but {size} pixels over "
                f"{visual_degrees} degrees represent less than {nyquist:.3g}; use larger images"
            )
        self.filters = filters
        self.size = size
        self.grid = grid
        self._dtype = np.dtype(dtype)
        self._step = size // grid
        self._cells = grid + 2 * int(np.ceil(margin))  # grid positions in a row of the padded image
        self._cells += self._cells % 2
        self._padded = self._cells * self._step
        self._pixels_per_degree = pixels_per_degree

    def __len__(self) -> int:
        return len(self.filters.frequency)

    def __call__(self, contrast: NDArray[np.floating]) -> NDArray[np.complexfloating]:
        """Filter one image.

        Parameters
        ----------
        contrast : ndarray, size × size
            (luminance − mean grey) / mean grey.

        Returns
        -------
        ndarray, filters × grid × grid
            Complex responses.
        """
        import scipy.fft

        if contrast.shape != (self.size, self.size):
            raise ValueError(f"the image has shape {contrast.shape}, the bank needs ({self.size}, {self.size})")
        padded = np.zeros((self._padded, self._padded), dtype=self._dtype)
        padded[: self.size, : self.size] = contrast
        padded = np.roll(padded, (-(self._step // 2),) * 2, axis=(0, 1))  # the first position becomes the origin
        spectrum = scipy.fft.fftshift(scipy.fft.fft2(padded, overwrite_x=True))
        cells = self._cells
        folded = np.empty((len(self), cells, cells), dtype=self._dtype)
        for index, (rows, columns, transfer) in enumerate(self._transfers):
            product = spectrum[rows, columns] * transfer
            blocks = product.reshape(product.shape[0] // cells, cells, product.shape[1] // cells, cells)
            folded[index] = blocks.sum(axis=(0, 2))
        if self._step % 2:  # the centre of the spectrum is then in the middle of a block
            folded = scipy.fft.ifftshift(folded, axes=(1, 2))
        responses = scipy.fft.ifft2(folded, axes=(1, 2), overwrite_x=True)
        responses *= (cells / self._padded) ** 2
        return responses[:, : self.grid, : self.grid]

    @cached_property
    def _transfers(self) -> list[tuple[slice, slice, NDArray[np.floating]]]:
        """One transfer function per filter; computed for the first image, since stored activations need none."""
        return [self._transfer(*parameters) for parameters in zip(*self.filters, strict=True)]

    def _transfer(
        self, orientation: float, frequency: float, across: float, along: float
    ) -> tuple[slice, slice, NDArray[np.floating]]:
        """Transfer function in the shifted spectrum, and the blocks of the spectrum where it is not negligible."""
        axis = (np.arange(self._padded) - self._padded // 2) * self._pixels_per_degree / self._padded
        angle = np.deg2rad(orientation)
        blank = np.exp(-2 * (np.pi * across * frequency) ** 2)
        # a real grating holds half its contrast at +frequency: twice the gain restores it; the peak is scaled to 1
        gain = 2 / (1 - blank * np.exp(-2 * (np.pi * across * frequency) ** 2))
        # outside of a rectangle along the filter's axes, both terms are below `_FAR`
        reach = (-np.log(_FAR) / 2) ** 0.5 / np.pi
        ends = np.array([[-reach / across], [frequency + reach / across]])
        sides = np.array([-reach / along, reach / along])
        near = (
            self._blocks(np.searchsorted(axis, ends * np.cos(angle) - sides * np.sin(angle)).ravel()),
            self._blocks(np.searchsorted(axis, ends * np.sin(angle) + sides * np.cos(angle)).ravel()),
        )
        everywhere = slice(0, self._padded)
        for rows, columns in (near, (everywhere, everywhere)):
            down, right = axis[rows, np.newaxis], axis[np.newaxis, columns]
            k_across = right * np.sin(angle) + down * np.cos(angle)
            k_along = right * np.cos(angle) - down * np.sin(angle)
            envelope = np.exp(-2 * (np.pi * along * k_along) ** 2)
            gabor = envelope * np.exp(-2 * (np.pi * across * (k_across - frequency)) ** 2)
            gabor -= blank * envelope * np.exp(-2 * (np.pi * across * k_across) ** 2)
            gabor *= gain
            peak = np.abs(gabor).max()
            if _NEGLIGIBLE * peak > 2 * _FAR * gain:  # unless the filter is too narrow for these frequencies
                break
        relevant = np.abs(gabor) > _NEGLIGIBLE * peak
        relevant_rows = np.flatnonzero(relevant.any(axis=1)), np.flatnonzero(relevant.any(axis=0))
        inner = self._blocks(relevant_rows[0]), self._blocks(relevant_rows[1])
        real = np.float32 if self._dtype == np.complex64 else np.float64
        transfer: NDArray[np.floating] = np.ascontiguousarray(gabor[inner], dtype=real)
        return _moved(inner[0], rows.start), _moved(inner[1], columns.start), transfer

    def _blocks(self, indices: NDArray[np.intp]) -> slice:
        """Complete blocks of the spectrum that contain all of `indices`."""
        most = self._padded // self._cells - 1
        first, last = indices.min() // self._cells, min(indices.max() // self._cells, most)
        return slice(first * self._cells, (last + 1) * self._cells)


def _moved(place: slice, offset: int) -> slice:
    return slice(place.start + offset, place.stop + offset)


def draw_filters(number: int, seed: int) -> GaborFilters:
    """Draw filters from distributions measured in macaque V1.

    Result: preferred orientation: horizontal and vertical more frequent than oblique [1]_, density ∝ 1 + cos(4θ) / 4.
    Full orientation bandwidth: median 40° [1]_, log-normal with a standard deviation of 0.4 in the logarithm, kept
    within 15° to 120° (the broader cells that [1]_ also reports are not Gabor-like). Preferred spatial frequency:
    log-uniform over 0.5 to 8 cycles per degree, the range at 2–5° eccentricity [2]_. Frequency bandwidth: mean 1.8
    octaves, within 0.8 to 3 octaves [2]_, standard deviation 0.5. Where a paper reports a range or a median only, the
    form of the distribution is our choice. Envelope sizes follow from the bandwidths.

    References
    ----------
    .. [1] De Valois, Yund & Hepler 1982, https://doi.org/10.1016/0042-6989(82)90112-2
    .. [2] Foster, Gaska, Nagler & Pollen 1985, https://doi.org/10.1113/jphysiol.1985.sp015776

    Examples
    --------
    >>> filters = draw_filters(100, seed=0)
    >>> bool(filters.frequency.min() >= 0.5), bool(filters.frequency.max() <= 8)
    (True, True)
    """
    random = np.random.RandomState(seed)  # its stream is frozen for ever, those of numpy's newer generators are not
    angles = np.linspace(0, 180, 1801)
    cumulative = angles + 0.25 * np.sin(np.deg2rad(4 * angles)) / np.deg2rad(4)
    return GaborFilters.from_bandwidths(
        orientation=np.interp(random.uniform(0, 180, number), cumulative, angles),
        frequency=np.exp(random.uniform(np.log(0.5), np.log(8.0), number)),
        frequency_bandwidth=np.clip(random.normal(1.8, 0.5, number), 0.8, 3.0),
        orientation_bandwidth=np.clip(np.exp(random.normal(np.log(40.0), 0.4, number)), 15.0, 120.0),
    )
