import { fill } from '../../../agent/base/localiser.ts';
import type { ItemOf } from '../protocol.ts';
import { el, icon } from './dom.ts';
import { fileLink } from './fileLink.ts';
import { nameOf } from './fileNames.ts';
import type { Port } from './port.ts';

const TOOL_ICONS = { running: 'loading', done: 'check', failed: 'error' } as const;

/** A call on one line, to unfold. */
export function renderCall(item: ItemOf<'tool'>, old: HTMLElement | undefined, port: Port): HTMLElement {
  const { status, name, summary, statusLabel, progress, input, output } = item;
  const root = el(
    'details',
    {
      class: `item tool ${status}`,
      data: { kind: 'tool', status, tool: name, key: item.key },
      aria: { live: 'off' },
    },
    el(
      'summary',
      { title: summary },
      icon(TOOL_ICONS[status], status === 'running' ? 'codicon-modifier-spin' : ''),
      el('span', { class: 'tool-name' }, name),
      el('span', { class: 'tool-summary' }, summary),
      el('span', { class: 'hidden' }, `, ${statusLabel}`),
      ...(progress === '' ? [] : [el('span', { class: 'tool-progress' }, progress)]),
      icon('chevron-right', 'chevron'),
    ),
    callBody(input, output, port, item.file),
  );
  root.open = old instanceof HTMLDetailsElement && old.open;
  return root;
}

/** Finished calls on one line, to unfold; each of them can be unfolded too. */
export function renderCalls(item: ItemOf<'tools'>, old: HTMLElement | undefined, port: Port): HTMLElement {
  const failed = item.calls.some(({ status }) => status === 'failed');
  const root = el(
    'details',
    { class: 'item tool calls', data: { kind: 'tools' }, aria: { live: 'off' } },
    el(
      'summary',
      {},
      icon(failed ? TOOL_ICONS.failed : TOOL_ICONS.done),
      el('span', { class: 'calls-title' }, item.title),
      icon('chevron-right', 'chevron'),
    ),
    el(
      'div',
      { class: 'tool-body' },
      ...item.calls.map(call =>
        renderCall(
          call,
          old?.querySelector<HTMLElement>(`[data-key="${CSS.escape(call.key)}"]`) ?? undefined,
          port,
        ),
      ),
    ),
  );
  root.open = old instanceof HTMLDetailsElement && old.open;
  return root;
}

/** What a tool was called with and answered. */
export function callBody(
  input: string,
  output: string,
  { strings, post }: Port,
  file?: ItemOf<'tool'>['file'],
): HTMLElement {
  const open = file && fileLink(file, fill(strings.openFile, nameOf(file)), post);
  return el(
    'div',
    { class: 'tool-body' },
    open && el('div', {}, open),
    ...(input === '' ? [] : section(strings.input, input)),
    ...(output === '' ? [] : section(strings.output, output)),
  );
}

function section(title: string, text: string): HTMLElement[] {
  return [
    el('div', { class: 'caption' }, title),
    el('pre', { tabIndex: 0, aria: { label: title }, role: 'region' }, text),
  ];
}
