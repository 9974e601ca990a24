import time, pytest
from django.test import Client
from django.core.cache import caches
def test_measure(db, settings):
    from brainscore_web.leaderboard.simulated import fill
    settings.API_RATES={"anonymous":10**6,"known":10**6}
    t=time.time(); made=fill(models=500, benchmarks=300, versions=2, private=5); print("fill",time.time()-t)
    c=Client()
    for a in ["models?limit=100","models?limit=500","benchmarks?limit=1000","benchmarks/V1","scores","scores?limit=1000","scores?limit=1000&after=20240901","scores?history=true&limit=1000","scores?benchmark=IT&model="+made.models[3],"scores?state=failed&limit=1000","leaderboard","leaderboard","leaderboard?node=IT","leaderboard?shown=true","exports/scores.csv?benchmark=IT","exports/scores.parquet","exports/scores.csv?history=true","exports/leaderboard.csv"]:
        t=time.time(); r=c.get("/api/v1/"+a, headers={"Accept-Encoding":"gzip"}); n=len(r.getvalue()); print(f"{a:50s} {r.status_code} {time.time()-t:.3f} s {n/1e3:.0f} kB")
