import * as fs from 'node:fs';
import * as path from 'node:path';
import { lineAt, parsePage, root, type Page } from './pages.ts';

/** Where pages may link to. Nothing is fetched: a test does not depend on a network. */
const HOSTS = new Set([
  'aider.chat',
  'code.claude.com',
  'code.visualstudio.com',
  'codecompanion.olimorris.dev',
  'cursor.com',
  'developers.openai.com',
  'docs.cline.bot',
  'docs.github.com',
  'geminicli.com',
  'github.com',
  'keepachangelog.com',
  'marketplace.visualstudio.com',
  'modelcontextprotocol.io',
  'ollama.com',
  'opencode.ai',
  'plannotator.ai',
  'raw.githubusercontent.com',
  'ubuntu.com',
  'www.contributor-covenant.org',
  'www.jetbrains.com',
  'zed.dev',
]);

/** What is wrong with the links of a page: files and headings that are not there, and addresses of unknown form or host. */
export function faultsOfLinks(page: Page): string[] {
  return linksOf(page).flatMap(({ target, line }) => {
    const fault = faultOf(page, target);
    return fault === undefined ? [] : [`${page.path}:${line}: ${target}: ${fault}`];
  });
}

/** How many links a page has. */
export const linkCount = (page: Page): number => linksOf(page).length;

function linksOf({ prose }: Page): { target: string; line: number }[] {
  const text = withoutCodeSpans(prose);
  const inline = [...text.matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)/g)];
  const bare = [...text.matchAll(/<(https?:[^>\s]+)>/g)];
  const references = [...text.matchAll(/^\[[^\]]+\]:\s*(\S+)/gm)];
  return [...inline, ...bare, ...references].map(match => ({
    target: match[1] ?? '',
    line: lineAt(prose, match.index),
  }));
}

function faultOf(page: Page, target: string): string | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(target)) return faultOfAddress(target);
  const [file = '', anchor] = target.split('#');
  if (file === '') return hasAnchor(page, anchor);
  const linked = path.posix.join(path.posix.dirname(page.path), decodeURI(file));
  if (linked.startsWith('..')) return 'leaves the repository';
  if (!fs.existsSync(path.join(root, linked))) return 'there is no such file';
  if (anchor === undefined) return undefined;
  if (!linked.endsWith('.md')) return 'only pages have headings';
  return hasAnchor(parsePage(linked, fs.readFileSync(path.join(root, linked), 'utf8')), anchor);
}

function hasAnchor(page: Page, anchor = ''): string | undefined {
  return anchorsOf(page).has(anchor) ? undefined : 'there is no such heading';
}

function faultOfAddress(target: string): string | undefined {
  if (!URL.canParse(target)) return 'is not a URL';
  const { protocol, hostname, username } = new URL(target);
  if (protocol !== 'https:') return 'is not https';
  if (username !== '') return 'contains a user';
  return HOSTS.has(hostname) ? undefined : `is at ${hostname}, which is not among the known hosts`;
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf({ prose }: Page): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of prose.matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Code spans become as many blanks, so that offsets stay. */
export function withoutCodeSpans(prose: string): string {
  return prose.replace(/(`+)(?!`)[^]*?(?<!`)\1(?!`)/g, span => span.replace(/[^\n]/g, ' '));
}
