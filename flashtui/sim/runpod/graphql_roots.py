"""The root fields of the simulated RunPod's GraphQL: one method per query or mutation, by its own name."""

from __future__ import annotations

from flashtui.sim.runpod.graphql_endpoints import EndpointRoot
from flashtui.sim.runpod.graphql_pods import PodRoot
from flashtui.sim.runpod.graphql_queries import QueryRoot
from flashtui.sim.runpod.graphql_templates import TemplateRoot


class Roots(QueryRoot, PodRoot, EndpointRoot, TemplateRoot):
    """Root value of every operation; the schema's fields are its methods."""
