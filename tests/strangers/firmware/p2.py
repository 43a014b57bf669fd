import numpy as np, atoll as at, random, math
from fractions import Fraction as F
random.seed(2)
nd=at.madl("fw2.madl")
ok=bad=0
def chk(name,a,b):
    global ok,bad
    if a==b: ok+=1
    else: bad+=1; print("DIFF",name,a,b)
def rnd(v,i,f):
    k=math.floor(v*2**f+F(1,2)); m=2**(i+f-1)
    return F(max(-m,min(m-1,k)),2**f)
W=lambda v:rnd(v,8,24); Q=lambda v:rnd(v,1,15)
class Sec:
    def __init__(s): s.s1=s.s2=F(0)
    def step(s,x,c):
        b0,b1,b2,a1,a2=c
        o=W(W(b0*x)+s.s1)
        n1=W(W(W(b1*x)-W(a1*o))+s.s2)
        s.s2=W(W(b2*x)-W(a2*o)); s.s1=n1
        return Q(o)
c=(0.5,0.25,0.125,-1.5,0.75); d=(1.99993896484375,-2.0,1.0,-1.9,0.95)
qc=[F(rnd(F(v),2,14)) for v in c]; qd=[F(rnd(F(v),2,14)) for v in d]
n=nd.cascade2(); o=nd.cascade2.instance(interpret=True); A,B=Sec(),Sec()
C=nd.cascade2
for k in range(60):
    x=random.choice([-1.0,0.999969482421875,0.5,-0.25,0.0,3.0e-5])
    y=B.step(A.step(Q(F(x)),qc),qd)
    try: chk("bq",F(float(n.step(x,tuple(map(float,qc)),tuple(map(float,qd))))),y)
    except Exception as e: print(type(e),e); break
    chk("bqo",F(float(o.step(x,tuple(map(float,qc)),tuple(map(float,qd))))),y)
try: print("nan q15",n.copy().step(float("nan"),c,d))
except Exception as e: print(type(e).__name__,e)
for _ in range(5):
    m=np.random.default_rng(_).normal(size=(3,3)); chk("inv",bool(np.allclose(nd.inv3(m),np.linalg.inv(m))),True)
print("singular",nd.inv3(np.zeros((3,3))))
chk("T", bool(np.allclose(nd.inv3(m.T),np.linalg.inv(m.T))),True)
p=nd.parse(); po=nd.parse.instance(interpret=True); st="wait";cnt=s=ln=0;buf=[0]*8
msgs=[0x7e,3,1,2,3,6, 0x7e,0,0x7e,9,0x7e,8,255,255,255,255,255,255,255,255,0xf8,1,2,0x7e,1,7,8]
for b in msgs+[random.choice([0x7e,1,2,8,9]) for _ in range(200)]:
    e="none"
    if st=="wait": cnt=s=0; nx="length" if b==0x7e else st
    elif st=="length": cnt=s=0; ln=b; nx="wait" if b==0 or b>8 else "payload"
    elif st=="payload":
        s+=b; buf[min(cnt,7)]=b; cnt+=1; nx="check" if cnt>=ln else st
    else: e="ok" if s&255==b else "bad"; cnt=s=0; nx="wait"
    st=nx
    for q in (p,po):
        E,B_,N_=q.step(b); chk("parse",(E.name,B_.tolist(),int(N_)),(e,buf,max(0,min(8,ln))))
print("state",p.state)
for n_ in (0,1,5):
    x=np.arange(1,n_+1,dtype="int32")
    for k in range(n_+1):
        chk("fs",int(nd.firstsum(x,k)),int(x[:k].sum()))
        chk("fsI",int(nd.firstsum.interpret(x,k)),int(x[:k].sum()))
    for k in (-1,n_+1,2**31):
        try: print("no error",n_,k,nd.firstsum(x,k))
        except Exception as e: print(type(e).__name__,str(e).split("\n")[0])
    for k in (-5,0,1,3,100,2**31-1):
        for v in (1,3,9):
            w=[i for i in range(min(max(k,0),n_)) if x[i]==v]
            chk("find",int(nd.find(x,v,k)),w[0] if w else -1)
print("overflow",nd.firstsum(np.array([2**31-1,1],"int32"),2))
f=np.float32
for n_ in (0,1,3):
    a=nd.axes() ; I=np.zeros(n_,f)
    for t in range(8):
        x=np.array([random.choice([1,100,-100,float("nan") if n_==3 and t==6 else 2]) for _ in range(n_)],f)
        cl=t==4
        if cl: I[:]=0
        try: u=a.step(x,f(2),cl)
        except Exception as e: print("axes",n_,type(e).__name__,e); break
        want=(f(2)*x+I).astype(f)
        I=np.clip(I+f(.01)*x,f(-.5),f(.5)).astype(f)
        chk("axes",np.array_equal(u,want,equal_nan=True),True) if t<7 else print("after nan",u,want,a.state)
    if n_==3:
        try: print(a.step(np.ones(2,f),f(1),False))
        except Exception as e: print(type(e).__name__,e)
for n_ in (1,2,7,8):
    x=np.random.default_rng(n_).integers(-2**31,2**31-1,n_).astype("int32"); chk("maxi",int(nd.maxi(x)),int(x.max()))
try: print(nd.maxi(np.zeros(0,"int32")))
except Exception as e: print(type(e).__name__,e)
print(ok,bad)
