// context_graph
