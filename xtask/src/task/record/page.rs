//! Code that pages run in scenarios, as a user's gesture.

/// Code for any theme: `PATH` is a page of the same host, `NAME` a window's name that is new. With how often it is drawn.
const USUAL: &[(&str, usize)] = &[
    ("location.href=\"PATH\";0", 4),
    ("location.hash=\"h1\";0", 2),
    ("document.title=\"New\";0", 2),
    ("window.open(\"PATH\")&&0", 4),
    ("window.open(\"PATH\",\"NAME\",\"width=300,height=200\")&&0", 1),
    ("window.open(\"PATH\",\"_blank\",\"noopener\")||0", 1),
    ("window.open(\"about:blank\")&&0", 1),
];

/// Code for pages that act by themselves.
const ACTIVE: &[(&str, usize)] = &[
    ("location.href=\"PATH\";0", 3),
    ("location.replace(\"PATH\");0", 2),
    ("location.reload();0", 1),
    ("location.hash=\"h1\";0", 1),
    ("location.hash=\"h2\";0", 1),
    ("location.href=\"#h1\";0", 1),
    ("history.pushState({},\"\",\"PATH\");0", 2),
    ("history.replaceState({},\"\",\"PATH\");0", 1),
    ("history.back();0", 2),
    ("history.forward();0", 1),
    ("history.go(-2);0", 1),
    ("document.title=\"New\";0", 1),
    ("document.title=\"\";0", 1),
    ("window.close()||0", 1),
    ("window.open(\"PATH\")&&0", 2),
    ("window.open(\"PATH\",\"_self\")&&0", 1),
    ("window.open(\"PATH\",\"one\")&&0", 2),
    ("window.open(\"PATH\",\"NAME\",\"popup\")&&0", 1),
    ("window.open(\"PATH\",\"NAME\",\"popup=0\")&&0", 1),
    ("window.open(\"PATH\",\"_blank\",\"noopener\")||0", 1),
    ("window.open(\"PATH\",\"_blank\",\"noreferrer,width=300\")||0", 1),
    ("window.open(\"about:blank\")&&0", 1),
    ("window.open()&&0", 1),
    ("opener&&(opener.location=\"PATH\");0", 1),
    // Within the time that a step takes to settle, so that they do not race the next one.
    ("setTimeout(()=>{location.href=\"PATH\"},120);0", 1),
    ("setTimeout(()=>{document.title=\"Later\"},120);0", 1),
    (
        "((a)=>{a.href=\"PATH\";document.body.append(a);a.click()})(document.createElement(\"a\"));0",
        1,
    ),
    (
        "((a)=>{a.href=\"PATH\";a.target=\"_blank\";document.body.append(a);a.click()})(document.createElement(\"a\"));0",
        1,
    ),
    (
        "((a)=>{a.href=\"PATH\";a.target=\"one\";document.body.append(a);a.click()})(document.createElement(\"a\"));0",
        1,
    ),
    ("location.assign(\"PATH\");0", 1),
    ("window.open(\"PATH\",\"_top\")&&0", 1),
    ("window.open(\"PATH\",\"one\",\"popup\")&&0", 1),
    ("history.go(1);0", 1),
    ("history.replaceState({},\"\",\"#h3\");0", 1),
];

/// Code for pages that tell and ask the user, beside other things.
// The recorder has left the page by then: to one that nobody sees the browser shows no dialog, but where a debugger is attached.
const TALKING: &[(&str, usize)] = &[
    ("setTimeout(()=>{alert(1);document.title=\"after\"},60);0", 4),
    ("setTimeout(()=>{document.title=String(confirm(\"sure\"))},60);0", 3),
    ("setTimeout(()=>{document.title=String(prompt(1,2))},60);0", 2),
    ("setTimeout(()=>{alert(1);location.href=\"PATH\"},60);0", 1),
    ("document.title=\"New\";0", 1),
    ("location.href=\"PATH\";0", 1),
    ("window.open(\"PATH\")&&0", 1),
];

/// The code of a theme.
pub(super) fn codes(theme: &str) -> Vec<(&'static str, usize)> {
    match theme {
        "pages" => ACTIVE.to_vec(),
        "alerts" => TALKING.to_vec(),
        "scripts" => [USUAL, &[("window.close()||0", 1)]].concat(),
        _ => USUAL.to_vec(),
    }
}
