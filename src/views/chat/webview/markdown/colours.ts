import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import markdown from 'highlight.js/lib/languages/markdown';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';
import { el } from '../dom.ts';

const languages = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  kotlin,
  markdown,
  php,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};
/** Longer code stays plain: colouring it would block the panel. */
const MAX_CHARS = 50_000;
const lowlight = createLowlight(languages);

type Children = ReturnType<typeof lowlight.highlight>['children'];
type Token = Extract<Children[number], { type: 'element' }>;

/** The code as nodes with a class for each kind of token; plain if its language is unknown or it is long. */
export function coloured(code: string, info: string): readonly (Node | string)[] {
  const [language = ''] = /^[\w+#-]*/.exec(info.trim().toLowerCase()) ?? [];
  if (language === '' || code.length > MAX_CHARS || !lowlight.registered(language)) return [code];
  return nodesOf(lowlight.highlight(language, code).children);
}

function nodesOf(children: Children | Token['children']): (Node | string)[] {
  const nodes: (Node | string)[] = [];
  for (const child of children) {
    if (child.type === 'text') nodes.push(child.value);
    else if (child.type === 'element') nodes.push(elementOf(child));
  }
  return nodes;
}

function elementOf({ properties, children }: Token): HTMLElement {
  const { className } = properties;
  return el('span', { class: Array.isArray(className) ? className.join(' ') : '' }, ...nodesOf(children));
}
