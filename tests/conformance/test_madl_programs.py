"""P1 to P18 with the C the thesis prints, and Q1 to Q37: docs/sources.md, Pauget.

Shapes are in the notes' abbreviation. `int` is i32, so integer division and square root are calls of a total function.
"""

from __future__ import annotations

import pytest

from atoll.errors import Error
from tests.madl.c_shape import count_copies, head, shape, temporaries
from tests.madl.corpus import REFUSED, P, Q
from tests.madl.harness import last, load
from tests.madl.schemes import has_type

# id: type, parameters, body, copies, temporaries
PRINTED = {
    "P1": ("[i]int, [i]int -> int", "dot(n, *u, *v, *s)", "*s=0; for idx<n *s+=u[idx]*v[idx];", 0, []),
    "P2": ("bool, [i]int -> int", "integr(n, rst, *a, *v)", "if (rst) *v=0; for idx<n *v+=a[idx];", 0, []),
    "P3": ("[9]int -> [9]int", "swap_ends(u[9])", "int tmp; tmp=u[0]; u[0]=u[8]; u[8]=tmp;", 3, ["tmp"]),
    "P4": ("[13]int -> [13]int", "swap_ends(u[13])", "int tmp[3]; memcpy(tmp,u,3); memcpy(u,&u[10],3); memcpy(&u[10],tmp,3);", 3, ["tmp"]),
    "P5": ("[8][7]int -> [7][8]int", "c_transpose(m[8][7], n[7][8])", "for idx<7 for idx_1<8 n[idx][idx_1]=m[idx_1][idx];", 1, []),
    "P6": (
        "[i][j]int -> [j][i]int", "c_transpose_p(k, p, *m, *n)",
        "for idx<k for idx_1<p n[idx*p+idx_1]=m[idx_1*k+idx];", 1, [],
    ),
    "P7": ("[42]int -> [42]int", "rev(a[42])", "int tmp[42]; for idx<42 tmp[41-idx]=a[idx]; memcpy(a,tmp,42);", 2, ["tmp"]),
    "P8": (
        "[2*i]int -> [2*i]int", "rev(n, *a)",
        "for idx<n {int tmp; tmp=a[idx]; a[idx]=a[2*n-idx-1]; a[2*n-idx-1]=tmp;}", 3, ["tmp"],
    ),
    "P9": (
        "[5][7]int, [7][3]int -> [5][3]int", "mat_mat(a[5][7], b[7][3], c[5][3])",
        "for i<5 for j<3 {c[i][j]=0; for k<7 c[i][j]+=a[i][k]*b[k][j];}", 0, [],
    ),
    "P10": (
        "[5][7]int, [7][3]int -> [5][3]int", "mat_mat(a[5][7], b[7][3], c[5][3])",
        "for i<5 for j<3 c[i][j]=0; for i<5 for k<7 for j<3 c[i][j]+=a[i][k]*b[k][j];", 0, [],
    ),
    "P11": (
        "<<4, 5>> -> [4][5]int, [27][29]int -> [24][25]int", "convol_2D(ke[4][5], im[27][29], r0[24][25])",
        "for i<24 for j<25 r0[i][j]=0; for i<24 for k<4 for j<25 for l<5 r0[i][j]+=ke[k][l]*im[i+k][j+l];", 0, [],
    ),
    "P12": ("<<i>> -> [i]int", "pow2(n, *p)", "for i<n {p[i]=1; for k<i p[i]+=p[k];}", 0, []),
    "P13": (
        "[i]int, [j+i-1]int -> [j]int", "convol(n, m, *ke, *im, *res)",
        "for i<m {res[i]=0; for j<n res[i]+=ke[j]*im[i+j];}", 0, [],
    ),
    "P14": (
        "[1+2*k]int, [2*k+n]int -> [2*k+n]int", "c_convol(k, n, *ke, *c_im, *c_res)",
        "for i<n {c_res[i+k]=0; for j<2*k+1 c_res[i+k]+=ke[j]*c_im[i+j];} memcpy(c_res,&c_res[n],k); memcpy(&c_res[k+n],&c_res[k],k);",
        2, [],
    ),
    "P15": (
        "[i]int -> [i]int", "rotate_right(n, *a)",
        "int reg; reg=a[n-1]; for idx<n {int tmp; tmp=reg; reg=a[idx]; a[idx]=tmp;}", 4, ["reg", "tmp"],
    ),
    "P16": (
        "[9][9]int", "pascal(m[9][9])",
        "m[0][0]=1; for i=1..8 m[i][0]=1; for j=1..8 m[0][j]=1; for i=1..8 for j=1..8 m[i][j]=m[i][j-1]+m[i-1][j];", 0, [],
    ),
    "P17": (
        "[10][10]int -> [10][10]int", "chol(l[10][10])",
        "for j<10 {for k<j for i=j..9 l[i][j]-=l[j][k]*l[i][k]; for i<j l[i][j]=0; l[j][j]=madl_sqrt_i32(l[j][j]); "
        "for i=j+1..9 l[i][j]=at_floordiv_i32(l[i][j],l[j][j]);}", 0, [],
    ),
    "P18": (
        "[i][i]int -> [i][i]int", "chol(n, *m, *l)",
        "for i<n {int tmp_2; for j<i {int tmp; dot(j,&l[j*n],&l[i*n],&tmp); l[i*n+j]=at_floordiv_i32((m[i*n+j]-tmp),l[j*n+j]);} "
        "dot(i,&l[i*n],&l[i*n],&tmp_2); l[i*n+i]=madl_sqrt_i32(m[i*n+i]-tmp_2); for idx<n-i-1 l[i*n+i+idx+1]=0;}",
        0, ["tmp", "tmp_2"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_printed_program(name: str) -> None:
    op = last(P[name])
    wanted_type, params, body, copies, locals_ = PRINTED[name]
    assert has_type(op, wanted_type), op.scheme.show()
    assert head(op) == params
    assert shape(op) == body
    assert count_copies(op) == copies
    assert temporaries(op) == locals_


def test_P17_with_floats_prints_as_the_thesis_does() -> None:
    op = last(P["P17"].replace("[10][10]int", "[10][10]f64"))
    assert shape(op) == (
        "for j<10 {for k<j for i=j..9 l[i][j]-=l[j][k]*l[i][k]; for i<j l[i][j]=0.0; l[j][j]=sqrt(l[j][j]); "
        "for i=j+1..9 l[i][j]/=l[j][j];}"
    )


# id: type, body, copies, temporaries; what the rules of 3.11 give where the thesis prints no C
DERIVED = {
    "Q1": ("int", "*n=*p; *p=*n+1;", 1, []),
    "Q1'": ("int", "*n+=1;", 0, []),
    "Q1b": ("int", "*n=*tmp; *tmp=*n+1;", 1, []),
    "Q2": ("int -> int", "*o=*tmp; *tmp=i;", 2, []),
    "Q2b": ("int -> int", "*o=*m; *m=i;", 2, []),
    "Q2c": ("int -> int", "*o=*m; *m=i;", 2, []),
    "Q3": ("int", "*n=*a; *a=*b; *b=*n+*a;", 2, []),
    "Q3b": ("int", "*n=*a; *a=*b; *b=*n+*a;", 2, []),
    "Q3c": ("int", "*n=*a; *a=*b; *b=*n+*a;", 2, []),
    "Q3d": ("int", "*n=tmp[0]; tmp[0]=tmp[1]; tmp[1]=*n+tmp[0];", 2, []),
    "Q4": ("int", "*a=*tmp_2; *tmp_2=*tmp; *tmp=*a;", 3, []),
    "Q5": ("int, int -> int", "*d=at_floordiv_i32((x-*tmp),h); *tmp=x;", 1, []),
    "Q6": ("int, bool -> int", "if (c) *i=0; *i+=v;", 0, []),
    "Q7": ("int, [i]int -> [i]int", "u[0]=h;", 1, []),
    "Q8": ("[i]int -> [i]int", "v[0]+=1;", 0, []),
    "Q11": ("<<n>> -> [n]int", "int nat_p; nat_start(&nat_p); for idx<n nat(&a[idx],&nat_p);", 0, ["nat_p"]),
    "Q11b": ("<<n>> -> [n]int", "for i<n a[i]=(int32_t)i;", 1, []),
    "Q12": (
        "<<n>> -> [n]int -> [n]int", "int tmp; tmp=a[n-1]; for idx<n {int tmp_2; tmp_2=tmp; tmp=a[idx]; a[idx]=tmp_2;}", 4, ["tmp", "tmp_2"],
    ),
    "Q12b": ("<<n>> -> [n]int -> [n]int", "int tmp; tmp=a[n-1]; for idx<n {b[idx]=tmp; tmp=a[idx];}", 3, ["tmp"]),
    "Q13": ("<<n>> -> int, [n]int -> [n]int", "for idx<n {b[idx]=at_max_i32(*v,a[idx]); *v=at_min_i32(*v,a[idx]);}", 0, []),
    "Q14": (
        "<<k>> -> int, int -> int",
        "int p; int n; p=x; n=e; *r=1; for idx<k {*r=(at_mod_i32(n,2)==1)?(*r*p):*r; p*=p; n=at_floordiv_i32(n,2);}", 2, ["n", "p"],
    ),
    "Q15": ("<<n>> -> [n][n]int", "for k<n {for idx<k m[k*n+idx]=0; m[k*n+k]=1; for idx<n-k-1 m[k*n+idx+k+1]=0;}", 0, []),
    "Q16": ("[i][j]int, [j]int -> [i]int", "for idx<m dot(n,&a[idx*n],u,&v[idx]);", 0, []),
    "Q16i": ("[i][j]int, [j]int -> [i]int", "for idx<m {v[idx]=0; for idx_1<n v[idx]+=a[idx*n+idx_1]*u[idx_1];}", 0, []),
    **{
        name: ("[i]int, [i][j]int -> [j]int", "for idx<m v[idx]=0; for idx<n for idx_1<m v[idx_1]+=u[idx]*a[idx*m+idx_1];", 0, [])
        for name in ("Q17a", "Q17b", "Q17d")
    },
    **{
        name: ("<<i, j>> -> [i][j]int -> int", "*s=0; for idx<n for idx_1<p *s+=m[idx*p+idx_1];", 0, [])
        for name in ("Q18a", "Q18b", "Q18c", "Q18d", "Q18e")
    },
    "Q19": ("[i]int, [j]int -> [i][j]int", "for idx<n for idx_1<m c[idx*m+idx_1]=a[idx]*b[idx_1];", 0, []),
    "Q20a": ("[i]int, [i]int -> int", "*s=0; for idx<n *s+=u[idx]*v[idx];", 0, []),
    "Q20b": ("[i]int, [i][j]int -> [j]int", "for idx<m w[idx]=0; for idx<n for idx_1<m w[idx_1]+=u[idx]*b[idx*m+idx_1];", 0, []),
    "Q20c": (
        "[i][k]int, [k][j]int -> [i][j]int",
        "for idx<m for idx_1<k c[idx*k+idx_1]=0; for idx<m for idx_1<n for idx_2<k c[idx*k+idx_2]+=a[idx*n+idx_1]*b[idx_1*k+idx_2];", 0, [],
    ),
    "Q20d": ("[i][j]int, [j]int -> [i]int", "for idx<m w[idx]=0; for idx<m for idx_1<n w[idx]+=a[idx*n+idx_1]*v[idx_1];", 0, []),
    "Q21": ("<<i>> -> [i]int, [i+j-1]int -> [j]int", "for idx<n b[idx]=0; for idx<n for idx_1<i b[idx]+=k[idx_1]*a[idx+idx_1];", 0, []),
    "Q22": ("<<n, p>> -> [2*n][p]int", "for idx<n for idx_1<p {m[idx*p+idx_1]=1; m[(idx+n)*p+idx_1]=0;}", 0, []),
    "Q23a": ("<<n>> -> [3*n]int", "for idx<n {m[3*idx]=0; m[3*idx+1]=0; m[3*idx+2]=0;}", 0, []),
    "Q23b": ("<<n>> -> [3][n]int", "for idx<n {m[idx]=0; m[n+idx]=0; m[2*n+idx]=0;}", 0, []),
    "Q24a": (
        "[1+i][j]int",
        "for idx<n m[idx]=1; for idx<k {m[(idx+1)*n]=1; for idx_1<n-1 m[(idx+1)*n+idx_1+1]=m[idx*n+idx_1+1]+m[(idx+1)*n+idx_1];}", 0, [],
    ),
    "Q24c": (
        "[i][j]int",
        "m[0]=1; for idx<k-1 m[(idx+1)*n]=1; for idx<n-1 m[idx+1]=1; "
        "for idx<k-1 for idx_1<n-1 m[(idx+1)*n+idx_1+1]=m[(idx+1)*n+idx_1]+m[idx*n+idx_1+1];", 0, [],
    ),
    "Q29b": ("[2]int -> [2]int", "add2(2,b,a);", 0, []),
    "Q32c": ("[5]int -> [5]int", "int tmp[5]; for idx<5 tmp[4-idx]=a[idx]; memcpy(a,tmp,5);", 2, ["tmp"]),
    "Q32d": ("[5]int -> [5]int", "int tmp[5]; for idx<5 tmp[idx]=a[4-idx]; memcpy(a,tmp,5);", 2, ["tmp"]),
    "Q33": ("<<n>> -> [n]int, [n]int -> int", "*s=0; for idx<n *s+=u[idx]*v[n-idx-1];", 0, []),
    "Q34i_resume": ("bool -> int", "*n=*p; *p+=1;", 1, []),
    "Q34o_resume": ("bool -> int", "*n=*p; *p+=1;", 1, []),
    "Q34i_reset": ("bool -> int", "*n=*p; if (c) *p=0; *p+=1;", 1, []),
    "Q37": ("[4]int -> [4]int", "memcpy(z,tmp,4); memcpy(tmp,x,4);", 2, []),
}  # fmt: skip

# id: kind, type, places; these have no code of their own, or no type to make code for
STRUCTURAL = {
    **{
        name: ("patt", "[i]a, [i]a -> [2*i]a", r"z.\[$0<n].[2*$0<2*n], z.\[$0<n].[2*$0 + 1<2*n] -> z") for name in ("Q9a", "Q9b", "Q9c")
    },
    "Q10": ("func", "<<i>> -> [2*i]a -> [2*i]a", "a -> b writes b"),
    "Q10b": ("func", "<<i>> -> [2*i]a -> [2*i]a", "a -> b writes b"),
    "Q25a": ("patt", "<<a, b, c, d>> -> [a*b][c*d]t -> [a*d][c*b]t", None),
    "Q25b": ("patt", "<<a, b, c, d>> -> [a*b][c*d]t -> [a*d][c*b]t", None),
    "Q25c": ("patt", "<<a, b, c, d>> -> [a*b][c*d]t -> [a*d][c*b]t", None),
    "Q25d": ("patt", "<<a, b, c, d, e, f, g, h, i>> -> [a*b*c][d*e*f][g*h*i]t -> [a*e*i][d*h*c][g*b*f]t", None),
    "Q26a": ("patt", "[n][p]a -> [n][p]a", None),
    "Q26b": ("patt", "[n][p]a -> [n][p]a", None),
    "Q27": ("view", "[n]a, [m]a, [k]a -> [n+m]a, [m+k]a", None),
    "Q28b": ("func", "a -> [2]a", "a.[0<2] -> a writes a"),
    "Q28c": ("view", "a -> [2]a", r"x -> x.\[$0<2]."),
    "Q35d": ("func", "<<n>> -> a -> [n]a", r"x -> x.\[$0<n]."),
}


@pytest.mark.parametrize("name", DERIVED)
def test_program(name: str) -> None:
    op = last(Q[name])
    wanted_type, body, copies, locals_ = DERIVED[name]
    assert has_type(op, wanted_type), op.scheme.show()
    assert shape(op) == body
    assert count_copies(op) == copies
    assert temporaries(op) == locals_


@pytest.mark.parametrize("name", STRUCTURAL)
def test_structural_program(name: str) -> None:
    op = last(Q[name])
    kind, wanted_type, places = STRUCTURAL[name]
    assert op.kind == kind
    assert has_type(op, wanted_type), op.scheme.show()
    assert places is None or op.scheme.show_places() == places


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused_program(name: str) -> None:
    with pytest.raises(Error) as caught:
        load(Q[name])
    assert caught.value.code == REFUSED[name], str(caught.value)


def test_every_program_is_tested() -> None:
    assert set(P) == set(PRINTED)
    assert set(Q) == set(DERIVED) | set(STRUCTURAL) | set(REFUSED)
    numbers = {int("".join(c for c in name[1:3] if c.isdigit())) for name in Q}
    assert numbers == set(range(1, 38))
