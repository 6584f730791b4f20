"""The GPU types of the simulated RunPod: literal price levels, clouds, pools, sizes.

Dollars per hour for one GPU, as the provider prints them. Sources: the public price pages and
recordings of 2025-06 to 2026-08 (docs `references/gpu-types.mdx`,
`snippets/serverless-gpu-pricing-table.mdx`); levels no source gives are marked `# no source`.
A price whose cloud flag is false is one of the placeholders the live service shows (0, 0.5 or a
stale figure): it must never be read as a price.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Card:
    """One GPU type as RunPod lists it."""

    gpu_id: str
    name: str
    memory_gb: int
    secure: bool
    community: bool
    secure_price: float
    community_price: float
    secure_spot: float | None
    community_spot: float | None
    pool: str | None
    """Serverless pool, None for a type that no endpoint can ask for."""
    serverless_price: float | None
    """Announced flex price; None where the price table has no row."""
    max_secure: int
    max_community: int
    plenty: float
    """0 (rare) to 1 (common): how much stock there tends to be."""

    @property
    def maker(self) -> str:
        """GraphQL's spelling of the manufacturer."""
        if self.gpu_id == "unknown":
            return ""
        return "AMD" if self.gpu_id.startswith("AMD") else "Nvidia"

    @property
    def vcpu(self) -> int:
        """Smallest vCPU count that comes with one GPU."""
        return max(4, self.memory_gb // 4)

    @property
    def ram_gb(self) -> int:
        """Smallest host memory that comes with one GPU."""
        return max(15, int(self.memory_gb * 1.7))

    @property
    def cuda_cores(self) -> int:
        """A plausible core count; nothing is derived from it."""
        return 0 if self.gpu_id == "unknown" else 1024 * max(2, self.memory_gb // 3)


def _card(line: str) -> Card:
    cells = [cell.strip() for cell in line.split("|")]
    name, memory, clouds, secure, community, spot, community_spot = cells[1:8]
    pool, serverless, counts, plenty = cells[8:12]
    max_secure, max_community = counts.split("/")
    return Card(
        gpu_id=cells[0],
        name=name,
        memory_gb=int(memory),
        secure="S" in clouds,
        community="C" in clouds,
        secure_price=float(secure),
        community_price=float(community),
        secure_spot=float(spot) if spot else None,
        community_spot=float(community_spot) if community_spot else None,
        pool=pool or None,
        serverless_price=float(serverless) if serverless else None,
        max_secure=int(max_secure),
        max_community=int(max_community),
        plenty=float(plenty),
    )


# id | display name | GB | clouds | secure | community | secure spot | community spot | pool |
# serverless | max count secure/community | plenty
_TABLE = """
NVIDIA GeForce RTX 4090|RTX 4090|24|SC|0.74|0.34|0.35|0.2|ADA_24|1.116|9/8|0.8
NVIDIA GeForce RTX 5090|RTX 5090|32|SC|0.99|0.69|||ADA_32_PRO||8/8|0.6
NVIDIA RTX 6000 Ada Generation|RTX 6000 Ada|48|SC|0.77|0.74|0.39|0.4|ADA_48_PRO|1.908|8/8|0.5
NVIDIA RTX PRO 6000 Blackwell Server Edition|RTX PRO 6000|96|S|2.09|0.5|||BLACKWELL_96|3.996|8/0|0.5
NVIDIA RTX PRO 6000 Blackwell Workstation Edition|RTX PRO 6000 WK|96|S|1.79|0.5|||BLACKWELL_96|3.996|4/0|0.5
NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition|RTX PRO 6000 MaxQ|96|S|1.69|0.5|||BLACKWELL_96|3.996|4/0|0.3
NVIDIA H100 80GB HBM3|H100 SXM|80|SC|3.29|2.69|1.75|1.5|ADA_80_PRO|4.176|8/8|0.45
NVIDIA RTX A4000|RTX A4000|16|SC|0.25|0.17|0.16|0.09|AMPERE_16|0.576|12/8|0.8
NVIDIA RTX A4500|RTX A4500|20|SC|0.25|0.19|0.18|0.1|AMPERE_16|0.576|4/4|0.7
NVIDIA RTX 4000 Ada Generation|RTX 4000 Ada|20|SC|0.26|0.2|0.19|0.1|AMPERE_16|0.576|8/4|0.7
NVIDIA RTX 2000 Ada Generation|RTX 2000 Ada|16|SC|0.24|0.16|0.14||||8/4|0.6
NVIDIA RTX A5000|RTX A5000|24|SC|0.27|0.16|0.14|0.11|AMPERE_24|0.684|10/8|0.8
NVIDIA L4|L4|24|S|0.39|0.44|0.22||AMPERE_24|0.684|10/0|0.7
NVIDIA GeForce RTX 3090|RTX 3090|24|SC|0.46|0.22|0.22|0.11|AMPERE_24|0.684|9/8|0.75
NVIDIA A40|A40|48|S|0.44|0.35|0.28|0.24|AMPERE_48|1.224|10/0|0.7
NVIDIA RTX A6000|RTX A6000|48|SC|0.49|0.33|0.33|0.25|AMPERE_48|1.224|10/8|0.7
NVIDIA A100 80GB PCIe|A100 PCIe|80|SC|1.39|1.19|0.82|0.6|AMPERE_80|2.736|8/8|0.6
NVIDIA A100-SXM4-80GB|A100 SXM|80|SC|1.49|1.39|0.95|0.79|AMPERE_80|2.736|8/8|0.6
NVIDIA H200|H200 SXM|141|SC|4.39|3.59|||HOPPER_141|5.58|8/8|0.4
NVIDIA B200|B200|180|S|5.89|0.5|||BLACKWELL_180|8.64|8/0|0.3
NVIDIA L40|L40|48|SC|0.99|0.69|0.5||ADA_48_PRO|1.908|10/4|0.5
NVIDIA L40S|L40S|48|SC|0.86|0.79|0.43|0.4|ADA_48_PRO|1.908|8/8|0.6
NVIDIA H100 PCIe|H100 PCIe|80|SC|2.39|1.99|1.25|1.35|ADA_80_PRO|4.176|8/8|0.5
NVIDIA H100 NVL|H100 NVL|94|SC|2.59|1.39|1.65|1.4|ADA_80_PRO|4.176|10/4|0.4
NVIDIA B300 SXM6 AC|B300|288|S|7.39|0.5|||||8/0|0.2
NVIDIA H200 NVL|NVIDIA H200 NVL|143|S|3.39|0.5|||||8/0|0.2
NVIDIA RTX PRO 4500 Blackwell|RTX PRO 4500|32|SC|0.72|0.34|||||8/4|0.5
NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb|PRO 6000 MIG 24GB|24|S|0.59|0.5|||||8/0|1.0
NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 2g.48gb|PRO 6000 MIG 48GB|48|S|1.09|0.5|||||8/0|1.0
AMD Instinct MI300X OAM|MI300X|192|S|2.39|0.5|1.49||||8/0|0.4
NVIDIA A30|A30|24|C|0.41|0.22|0.21|0.11|||4/4|0.4
NVIDIA RTX 4000 SFF Ada Generation|RTX 4000 Ada SFF|20|C|0.5|0.2|||||4/4|0.3
NVIDIA RTX 5000 Ada Generation|RTX 5000 Ada|32|C|0.83|0.49|0.42|0.25|||8/4|0.4
NVIDIA RTX A2000|RTX A2000|6|C|0.5|0.12||0.06|||4/4|0.5
NVIDIA GeForce RTX 3070|RTX 3070|8|C|0|0.13||0.07|||8/8|0.5
NVIDIA GeForce RTX 3080|RTX 3080|10|C|0|0.17||0.09|||4/4|0.5
NVIDIA GeForce RTX 3080 Ti|RTX 3080 Ti|12|C|0|0.18||0.09|||4/4|0.5
NVIDIA GeForce RTX 3090 Ti|RTX 3090 Ti|24|C|0.46|0.27||0.14|||2/2|0.5
NVIDIA GeForce RTX 4070 Ti|RTX 4070 Ti|12|C|0.5|0.19||0.1|||2/2|0.5
NVIDIA GeForce RTX 4080|RTX 4080|16|C|0.5|0.27||0.16|||2/2|0.5
NVIDIA GeForce RTX 4080 SUPER|RTX 4080 SUPER|16|C|0.5|0.28||0.17|||6/6|0.5
NVIDIA GeForce RTX 5080|RTX 5080|16|C|0.59|0.49|0.3|0.25|||4/4|0.5
Tesla V100-PCIE-16GB|Tesla V100|16|C|0|0.19||0.1|||8/8|0.4
Tesla V100-SXM2-16GB|V100 SXM2|16|C|0|0.23||0.12|||8/8|0.4
Tesla V100-SXM2-32GB|V100 SXM2 32GB|32|C|0.49|0.33|0.25|0.17|||4/4|0.4
"""
# Figures no source gives: MaxQ, B300, H200 NVL and both MIG products (secure), 4000 Ada SFF.
# The sentinel the live list carries: 0 GB, no price, in no cloud.
_SENTINEL = "unknown|unknown|0||0|0|||||1/1|0"

CARDS: tuple[Card, ...] = tuple(_card(line) for line in [*_TABLE.strip().splitlines(), _SENTINEL])
CARD_BY_ID: dict[str, Card] = {card.gpu_id: card for card in CARDS}

UNLISTED_POOL_PRICE = 1.584
"""What a worker in a pool without an announced price costs (0.00044 dollars a second)."""


def pool_members(pool: str) -> tuple[Card, ...]:
    """The types of a serverless pool, in list order."""
    return tuple(card for card in CARDS if card.pool == pool)


def pool_names() -> tuple[str, ...]:
    """Every pool, in the order of its first member."""
    return tuple(dict.fromkeys(card.pool for card in CARDS if card.pool))


def is_mig(gpu_id: str) -> bool:
    """Whether a type is a slice of a card: listed as plentiful, in no pool."""
    return " MIG " in gpu_id
