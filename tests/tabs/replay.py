"""Replays recorded scenarios of a real browser over HTTP (`tabs-api serve --lab FIXTURES`) and compares.

Results, error texts, events with payload and order, and what a call changed must be those of the recording; ids are
named by first appearance on both sides, so that only their relations count. Exit code 1 if any scenario differs.
"""

import json, re, sys, glob, os, time, urllib.request, argparse

ap = argparse.ArgumentParser()
ap.add_argument("base")
ap.add_argument("--only")
ap.add_argument("--ignore", default="")
ap.add_argument("--no-noop-zoom", action="store_true", help="drop onZoomChange with old == new")
ap.add_argument("--no-order", action="store_true", help="compare the events of a step as a multiset")
ap.add_argument("--no-tab-snapshot", action="store_true", help="ignore the third argument of onUpdated")
ap.add_argument("--stable-only", action="store_true")
ap.add_argument("--messages", choices=["exact", "kind"], default="exact")
ap.add_argument("--limit", type=int)
ap.add_argument("--corpus", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus"))
ap.add_argument("-v", action="store_true")
A = ap.parse_args()
IGN = set(filter(None, A.ignore.split(",")))


def http(method, path, body=None):
    r = urllib.request.Request(
        A.base + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"content-type": "application/json"},
    )
    with urllib.request.urlopen(r, timeout=90) as f:
        return json.loads(f.read() or b"{}")


class Sym:
    def __init__(s, ext):
        s.m = {}
        s.n = {"T": 0, "W": 0, "G": 0}
        s.ext = ext

    def bind(s, k, v):
        if isinstance(v, int) and not isinstance(v, bool):
            s.m.setdefault(v, k)

    def see(s, kind, v):
        if (
            isinstance(v, int)
            and not isinstance(v, bool)
            and v > 1000
            and v not in (2000000001, 2000000002)
            and v not in s.m
        ):
            s.n[kind] += 1
            s.m[v] = f"{kind}x{s.n[kind]}"

    def scan(s, o):
        if isinstance(o, list):
            for x in o:
                s.scan(x)
        elif isinstance(o, dict):
            if "windowId" in o and "index" in o and "id" in o:
                s.see("T", o["id"])
            elif "id" in o and "focused" in o:
                s.see("W", o["id"])
            elif "id" in o and "collapsed" in o:
                s.see("G", o["id"])
            for k, v in o.items():
                if re.search(r"windowid$", k, re.I):
                    s.see("W", v)
                elif k == "groupId":
                    s.see("G", v)
                elif re.search(r"tabid$", k, re.I):
                    s.see("T", v)
                elif k == "tabIds" and isinstance(v, list):
                    [s.see("T", x) for x in v]
                else:
                    s.scan(v)

    def scan_event(s, e):
        a = e["args"]
        if a and isinstance(a[0], int):
            s.see(
                "T" if e["name"].startswith("tabs.") else "W" if e["name"].startswith("windows.") else "G",
                a[0],
            )
        if e["name"] == "tabs.onReplaced":
            s.see("T", a[1])
        s.scan(a)

    def norm(s, v, key=None, parent=None):
        if isinstance(v, bool) or v is None:
            return v
        if isinstance(v, str):
            if key == "documentId" and re.fullmatch("[0-9A-F]{32}", v):
                return "$DOC"
            if s.ext:
                v = v.replace(s.ext, "$EXTID")
            m = re.match(r"(data:image/(?:jpeg|png|webp);base64,)", v)
            if m and len(v) > 400:
                return m.group(1) + "$BYTES"
            return re.sub(
                r"\d{6,}", lambda d: "$" + s.m[int(d.group())] if int(d.group()) in s.m else d.group(), v
            )
        if isinstance(v, (int, float)):
            if key in ("lastAccessed", "lastModified"):
                return "$TIME"
            if (
                key in ("width", "height", "left", "top")
                and parent
                and ("windowId" in parent or "focused" in parent)
            ):
                return "$PX"
            if key and key.lower().endswith("zoomfactor"):
                return round(v, 6)
            return "$" + s.m[v] if v in s.m else v
        if isinstance(v, list):
            return [s.norm(x, key, v) for x in v]
        return {
            k: s.norm(v[k], k, v)
            for k in sorted(v)
            if not (k == "favIconUrl" and v[k] == "" and "windowId" in v)
        }


def strip(o):
    if isinstance(o, list):
        return [strip(x) for x in o]
    if isinstance(o, dict):
        return {k: strip(v) for k, v in o.items() if k not in IGN}
    if isinstance(o, float) and o.is_integer():
        return int(o)
    return o


def resolve(a, env):
    if isinstance(a, str):
        m = re.fullmatch(r"\$([A-Z][A-Za-z0-9]*)", a)
        return env[m.group(1)] if m and m.group(1) in env else a
    if isinstance(a, list):
        return [resolve(x, env) for x in a]
    if isinstance(a, dict):
        return {k: resolve(v, env) for k, v in a.items()}
    return a


def keep(e):
    if e["name"] == "windows.onFocusChanged":
        return False
    if (
        A.no_noop_zoom
        and e["name"] == "tabs.onZoomChange"
        and e["args"][0].get("newZoomFactor") == e["args"][0].get("oldZoomFactor")
    ):
        return False
    return True


def ev(e):
    a = e["args"]
    if e["name"] == "tabs.onHighlighted":
        a = [{**a[0], "tabIds": sorted(a[0]["tabIds"])}]
    if e["name"] == "tabs.onUpdated" and A.no_tab_snapshot:
        a = a[:2]
    return strip([e["name"], a])


def outcome(s):
    if "error" in s:
        return [
            "error",
            s["error"]["kind"],
            s["error"]["message"] if A.messages == "exact" and s["error"]["kind"] != "pending" else "",
        ]
    if s.get("result_undefined") or s.get("undef"):
        return ["undefined"]
    return ["result", strip(s.get("result"))]


def run(sc):
    start = {"manifest_variant": sc["manifest_variant"]}
    heard = {listener: [] for listener in sc.get("listeners", [])}
    if heard:
        start["listeners"] = list(heard)
    R = http("POST", "/oracle/reset", start)
    ext = R.pop("extension_id", None)
    env = dict(R)
    sy = Sym(ext)
    seen = 0
    for k, v in env.items():
        sy.bind(k, v)
    raw = []
    for i, st in enumerate(sc["steps"]):
        if st["op"] == "harness.sleep":
            time.sleep(st["args"][0] / 1000)
            r = {"result": None}
        else:
            call = {k: st[k] for k in ("op", "style", "context", "by", "port", "timeout") if k in st}
            call["args"] = resolve(st.get("args", []), env)
            r = http("POST", "/oracle/call", call)
        if r.get("unsupported"):
            return "skip", f'step {i} {st["op"]} unsupported'
        for k, path in (st.get("save") or {}).items():
            v = r.get("result")
            for p in filter(None, path.split(".")):
                v = (
                    None
                    if v is None
                    else (v[int(p)] if isinstance(v, list) else v.get(p)) if not isinstance(v, int) else None
                )
            if v is not None:
                env[k] = v
                sy.bind(k, v)
        mode = st.get("settle", "full")
        es = http("GET", f"/oracle/events?after={seen}&settle={mode}")["events"]
        seen += len(es)
        raw.append((r, es))
        for listener, log in heard.items():
            more = http("GET", f"/oracle/events?after={len(log)}&settle=none&listener={listener}")["events"]
            log.extend((i, e) for e in more)
    es = http("GET", f"/oracle/events?after={seen}&settle=full")["events"]
    raw[-1][1].extend(es)
    for r, es in raw:  # same first-seen order as the recorder
        k = max(0, min(len(es), r.get("mark", 0)))
        for e in es:
            sy.scan_event(e)
        sy.scan(r.get("result"))
    errs = []
    for i, (st, (r, es)) in enumerate(zip(sc["steps"], raw)):
        got = dict(r)
        if "result" in got:
            got["result"] = sy.norm(got["result"])
            if st["op"] == "tabs.getZoom" and isinstance(got["result"], float):
                got["result"] = round(got["result"], 6)
        if "error" in got:
            got["error"] = sy.norm(got["error"])
        w, g = outcome(st), outcome(got)
        if w != g:
            errs.append(f'step {i} {st["op"]}: want {json.dumps(w)[:300]} got {json.dumps(g)[:300]}')
        we = [ev(e) for e in sc["events"] if e["step"] == i and keep(e)]
        ge = [ev({"name": e["name"], "args": sy.norm(e["args"])}) for e in es if keep(e)]
        if A.no_order:
            we.sort(key=json.dumps)
            ge.sort(key=json.dumps)
        if we != ge:
            j = next(
                (j for j in range(max(len(we), len(ge))) if j >= len(we) or j >= len(ge) or we[j] != ge[j]), 0
            )
            errs.append(
                f'step {i} {st["op"]} event {j}: want {json.dumps(we[j])[:300] if j < len(we) else "none"} got {json.dumps(ge[j])[:300] if j < len(ge) else "none"}'
            )
    for listener, log in heard.items():
        we = [[e["step"], ev(e)] for e in sc["heard"][listener] if keep(e)]
        ge = [[i, ev({"name": e["name"], "args": sy.norm(e["args"])})] for i, e in log if keep(e)]
        j = next((j for j, (w, g) in enumerate(zip(we, ge)) if w != g), min(len(we), len(ge)))
        if we != ge:
            w, g = (json.dumps(events[j])[:300] if j < len(events) else "none" for events in (we, ge))
            errs.append(f"{listener} event {j}: want {w} got {g}")
    return ("pass", "") if not errs else ("fail", "\n    ".join(errs if A.v else errs[:2]))


tot = {"pass": 0, "fail": 0, "skip": 0}
n = 0
for f in sorted(glob.glob(os.path.join(A.corpus, "*.json"))):
    sc = json.load(open(f))
    if A.only and not re.search(A.only, sc["name"]) or A.stable_only and not sc["stable"]:
        continue
    if A.limit and n >= A.limit:
        break
    n += 1
    try:
        k, why = run(sc)
    except Exception as e:
        k, why = "fail", f"{type(e).__name__}: {e}"
    tot[k] += 1
    if k != "pass" or A.v:
        print(k, sc["name"], why and "\n    " + why)
print(tot)
sys.exit(bool(tot["fail"]) or not tot["pass"])
