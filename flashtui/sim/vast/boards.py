"""GPU boards on the simulated Vast.ai market, in Vast's own spellings and units.

Price levels are dollars per GPU and hour; memory is MB per GPU as hosts report it. Levels follow what a public catalogue
of Vast offers showed in 2026; boards without a row there are set by their neighbours.
"""

from __future__ import annotations

from typing import NamedTuple


class Board(NamedTuple):
    """One kind of GPU as hosts list it.

    Attributes:
        counts: how many of them machines have.
        weight: how many machines of it a normal market has.
        place: whether they mostly stand in a "server" room or at "home".
    """

    gpu_name: str
    gpu_ram: int
    compute_cap: int
    usd_low: float
    usd_high: float
    total_flops: float
    dlperf: float
    gpu_mem_bw: float
    gpu_max_power: float
    counts: tuple[int, ...]
    weight: int
    place: str
    gpu_arch: str = "nvidia"


BOARDS: tuple[Board, ...] = (
    Board("RTX 4090", 24564, 890, 0.28, 0.46, 82.6, 104.2, 884.3, 450, (1, 2, 4, 8, 8), 19, "home"),
    Board("RTX 4090", 49140, 890, 0.40, 0.55, 82.6, 101.0, 884.3, 450, (1, 2), 2, "home"),
    Board("RTX 5090", 32607, 1200, 0.40, 0.76, 104.8, 178.0, 1510.0, 575, (1, 2, 4, 8), 16, "home"),
    Board("RTX 3090", 24576, 860, 0.14, 0.26, 35.6, 52.1, 862.0, 350, (1, 2, 4, 8), 12, "home"),
    Board("RTX A4000", 16376, 860, 0.09, 0.16, 19.2, 25.3, 417.0, 140, (1, 2, 4), 5, "home"),
    Board("RTX 2000Ada", 16380, 890, 0.11, 0.17, 12.0, 18.9, 210.0, 70, (1, 2), 3, "home"),
    Board("RTX A4500", 20470, 860, 0.13, 0.20, 23.7, 30.8, 595.0, 200, (1, 2, 4), 3, "home"),
    Board("RTX 4000Ada", 20475, 890, 0.16, 0.24, 26.7, 33.9, 335.0, 130, (1, 2, 4), 4, "home"),
    Board("RTX A5000", 24564, 860, 0.18, 0.26, 27.8, 38.2, 714.0, 230, (1, 2, 4, 8), 6, "home"),
    Board("L4", 23034, 890, 0.28, 0.42, 30.3, 35.7, 268.0, 72, (1, 2, 4, 8), 4, "server"),
    Board("RTX PRO 4000", 24467, 1200, 0.30, 0.42, 46.9, 68.0, 640.0, 140, (1, 2, 4), 4, "home"),
    Board("RTX A6000", 49140, 860, 0.36, 0.52, 38.7, 46.5, 714.0, 300, (1, 2, 4, 8), 6, "home"),
    Board("A40", 46068, 860, 0.32, 0.50, 37.4, 43.1, 645.0, 300, (1, 2, 4, 8), 5, "server"),
    Board("RTX 6000Ada", 49140, 890, 0.45, 0.72, 91.1, 98.4, 889.0, 300, (1, 2, 4, 8), 6, "home"),
    Board("L40S", 46068, 890, 0.52, 0.82, 91.6, 102.6, 790.0, 350, (1, 2, 4, 8), 7, "server"),
    Board("L40", 46068, 890, 0.48, 0.70, 90.5, 90.0, 790.0, 300, (1, 2, 4), 3, "server"),
    Board("A100 SXM4", 40960, 800, 0.60, 0.85, 19.5, 96.3, 1355.0, 400, (1, 4, 8), 4, "server"),
    Board("A100 SXM4", 81920, 800, 0.75, 1.20, 19.5, 104.9, 1660.0, 400, (1, 2, 4, 8, 8), 8, "server"),
    Board("A100 PCIE", 40960, 800, 0.52, 0.75, 19.5, 88.0, 1330.0, 250, (1, 2), 2, "server"),
    Board("A100 PCIE", 81920, 800, 0.64, 0.95, 19.5, 95.2, 1590.0, 300, (1, 2, 4), 5, "server"),
    Board("H100 SXM", 81559, 900, 1.75, 2.35, 66.9, 312.0, 2660.0, 700, (1, 2, 4, 8, 8), 10, "server"),
    Board("H100 NVL", 95830, 900, 1.90, 2.45, 60.3, 270.0, 3420.0, 400, (1, 2, 4, 8), 6, "server"),
    Board("H100 PCIE", 81559, 900, 1.65, 2.15, 51.2, 240.0, 1750.0, 350, (1, 2, 4), 4, "server"),
    Board("RTX PRO 6000", 97887, 1200, 0.95, 1.35, 125.0, 195.0, 1530.0, 600, (1, 2, 4), 4, "server"),
    Board("RTX PRO 6000 S", 97887, 1200, 1.00, 1.30, 117.0, 182.0, 1480.0, 600, (1, 2, 4, 8), 3, "server"),
    Board("RTX PRO 6000 WS", 97887, 1200, 0.90, 1.15, 126.0, 198.0, 1540.0, 600, (1, 2), 4, "home"),
    Board("H200", 143771, 900, 2.20, 2.95, 66.9, 335.0, 3900.0, 700, (1, 2, 4, 8, 8), 8, "server"),
    Board("B200", 183359, 1000, 4.30, 5.40, 74.4, 580.0, 6100.0, 1000, (2, 4, 8), 3, "server"),
    Board("RTX 5880Ada", 49140, 890, 0.33, 0.45, 69.3, 80.0, 880.0, 285, (1, 2), 2, "home"),
    Board("RTX 5080", 16303, 1200, 0.17, 0.30, 56.3, 88.0, 890.0, 360, (1, 2, 4), 3, "home"),
    Board("RTX 5070", 12227, 1200, 0.08, 0.14, 30.9, 48.0, 620.0, 250, (1, 2), 2, "home"),
    Board("RTX 5060 Ti", 16311, 1200, 0.07, 0.12, 23.7, 36.0, 410.0, 180, (1, 2), 2, "home"),
    Board("RTX 4080S", 16376, 890, 0.18, 0.27, 52.2, 64.0, 680.0, 320, (1, 2), 2, "home"),
    Board("RTX 4070S Ti", 16376, 890, 0.15, 0.22, 44.1, 54.0, 620.0, 285, (1, 2, 4), 3, "home"),
    Board("RTX 4060 Ti", 16380, 890, 0.07, 0.13, 22.1, 28.0, 270.0, 165, (1, 2, 4), 3, "home"),
    Board("RTX 3080", 10240, 860, 0.08, 0.14, 29.8, 40.0, 700.0, 320, (1, 2, 4), 3, "home"),
    Board("RTX 3070", 8192, 860, 0.06, 0.12, 20.3, 28.0, 420.0, 220, (1, 2, 4), 2, "home"),
    Board("RTX 3060", 12288, 860, 0.05, 0.10, 12.7, 18.0, 330.0, 170, (1, 2, 4, 8), 5, "home"),
    Board("RTX 3060 Ti", 8192, 860, 0.06, 0.12, 16.2, 23.0, 420.0, 200, (1, 2), 2, "home"),
    Board("RTX 2080 Ti", 11264, 750, 0.08, 0.13, 13.4, 20.0, 550.0, 250, (1, 2, 4), 3, "home"),
    Board("GTX 1080 Ti", 11264, 610, 0.05, 0.09, 11.3, 8.6, 430.0, 250, (1, 2), 2, "home"),
    Board("GTX 1660 S", 6144, 750, 0.04, 0.07, 5.0, 6.1, 300.0, 125, (1,), 1, "home"),
    Board("RTX A2000", 6138, 860, 0.06, 0.11, 8.0, 12.0, 260.0, 70, (1, 2), 2, "home"),
    Board("A10", 23028, 860, 0.22, 0.30, 31.2, 36.0, 540.0, 150, (1, 2, 4), 2, "server"),
    Board("Tesla V100", 16384, 700, 0.11, 0.20, 15.7, 32.0, 790.0, 300, (1, 2, 4, 8), 5, "server"),
    Board("Tesla T4", 15360, 750, 0.10, 0.16, 8.1, 12.5, 260.0, 70, (1, 2, 4), 2, "server"),
    Board("Q RTX 8000", 49152, 750, 0.20, 0.30, 16.3, 26.0, 620.0, 260, (1, 2), 2, "home"),
    Board("RX 7900 XTX", 24560, 1100, 0.16, 0.24, 61.4, 40.0, 900.0, 355, (1, 2), 2, "home", "amd"),
)  # fmt: skip


def board_named(gpu_name: str, gpu_ram: int | None = None) -> Board:
    """The board of this spelling, and of this memory when one is given.

    Raises:
        ValueError: the market has no such board.
    """
    for board in BOARDS:
        if board.gpu_name == gpu_name and gpu_ram in {None, board.gpu_ram}:
            return board
    msg = f"no Vast board {gpu_name!r} with {gpu_ram} MB"
    raise ValueError(msg)
