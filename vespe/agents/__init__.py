"""The public path of `recordings`; the code of agents is the feature `vespe/features/agents`."""
