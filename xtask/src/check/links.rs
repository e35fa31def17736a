//! The documents: every relative link in them leads somewhere.

use std::path::Path;

use anyhow::{Result, bail};

use crate::run::workspace::{output, root};

/// Checks the links of every Markdown file that git knows, or would know.
///
/// # Errors
/// Every link that leads nowhere, one a line.
pub(crate) fn check() -> Result<String> {
    let mut list = std::process::Command::new("git");
    list.args(["ls-files", "--cached", "--others", "--exclude-standard", "*.md"]);
    let listed = output(list.current_dir(root()))?;
    let (mut links, mut broken) = (0, Vec::new());
    for name in listed.lines().filter(|name| root().join(name).exists()) {
        let page = root().join(name);
        let text = std::fs::read_to_string(&page)?;
        for link in targets(&text) {
            links += 1;
            if !leads_somewhere(&page, link) {
                broken.push(format!("{name}: {link}"));
            }
        }
    }
    if broken.is_empty() {
        return Ok(format!("{links} links in {} pages lead somewhere", listed.lines().count()));
    }
    bail!("{} links lead nowhere:\n  {}", broken.len(), broken.join("\n  "))
}

/// The targets of `[text](target)` outside code, without those that leave the repository.
fn targets(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        let prose = line.split('`').step_by(2);
        let ends = prose.flat_map(|part| part.split("](").skip(1));
        found.extend(ends.filter_map(|rest| rest.split(')').next()));
    }
    found.retain(|target| !target.contains("://") && !target.starts_with('#'));
    found
}

fn leads_somewhere(page: &Path, link: &str) -> bool {
    let path = link.split('#').next().unwrap_or(link);
    let folder = page.parent().unwrap_or_else(|| Path::new("."));
    folder.join(path).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_prose_are_found_and_those_in_code_are_not() {
        let text = "see [a](a.md) and [b](docs/b.md#part)\n`[c](c.md)` [d](https://example.com/d)\n\
                    ```\n[e](e.md)\n```\n[f](#here)\n";
        assert_eq!(targets(text), ["a.md", "docs/b.md#part"]);
    }

    #[test]
    fn a_link_to_nowhere_is_found() {
        let page = root().join("README.md");
        assert!(leads_somewhere(&page, "docs/README.md#top"));
        assert!(!leads_somewhere(&page, "docs/no-such-page.md"));
    }
}
