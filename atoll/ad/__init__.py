"""Derivatives of normal forms: scalar rules (`rules`), forward mode (`forward`), reverse mode (`reverse` and its parts), the API (`api`).

A derivative is taken while a program is translated to AiNF: the differentiated function is evaluated on *active* lines, and the lines it
made are followed forwards (tangents) or backwards (adjoints). Its results are ordinary lines, so derivatives nest, and everything
that optimises programs optimises derivatives.
"""
