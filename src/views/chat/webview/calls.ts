import * as l10n from '@vscode/l10n';
import { MAX_SHOWN_CHARS, type ItemOf, type ShownText } from '../viewItem.ts';
import { fileNameOf, sayCalls, sayRunning } from '../words/callWords.ts';
import { el, icon } from './dom.ts';
import { fileLink } from './fileLink.ts';
import { shownFileName } from './fileNames.ts';

/** The icon of a finished call is not a tick: that would stand for checks that failed, too. */
const TOOL_ICONS = {
  running: 'loading',
  done: 'tools',
  failed: 'error',
  interrupted: 'circle-slash',
} as const;

/** A call on one line, to unfold. */
export function renderCall(item: ItemOf<'tool'>, old: HTMLElement | undefined): HTMLElement {
  const { status, name, file, progress, input, output } = item;
  const said =
    status === 'running' ? sayRunning(name) : sayCalls([{ name, path: file?.path, failed: false }]);
  // A file that the words name is not named twice.
  const isNamed = file !== undefined && said.includes(fileNameOf(file.path));
  // A question stands in a row of its own while it waits.
  const isAsked = status === 'running' && name === 'ask_user';
  const summary = isNamed || isAsked ? '' : item.summary;
  const isPlain = status === 'running' || status === 'done';
  const root = el(
    'details',
    {
      class: `item tool ${status}`,
      data: { kind: 'tool', status, tool: name, key: item.key },
      aria: { live: 'off' },
    },
    el(
      'summary',
      { title: item.summary },
      icon(TOOL_ICONS[status], status === 'running' ? 'codicon-modifier-spin' : ''),
      el('span', { class: 'tool-name' }, said),
      el('span', { class: 'tool-summary' }, summary),
      el('span', { class: isPlain ? 'hidden' : 'tool-status' }, `, ${statusWord(status)}`),
      progress !== undefined && el('span', { class: 'tool-progress' }, progress),
      icon('chevron-right', 'chevron'),
    ),
    callBody(input, output, file),
  );
  root.open = old instanceof HTMLDetailsElement && old.open;
  return root;
}

/** Finished calls on one line, to unfold; each of them can be unfolded too. */
export function renderCalls(item: ItemOf<'tools'>, old: HTMLElement | undefined): HTMLElement {
  const said = item.calls.map(({ name, file, status }) => ({
    name,
    path: file?.path,
    failed: status === 'failed',
    interrupted: status === 'interrupted',
  }));
  const failed = said.some(call => call.failed);
  const root = el(
    'details',
    { class: 'item tool calls', data: { kind: 'tools' }, aria: { live: 'off' } },
    el(
      'summary',
      {},
      icon(failed ? TOOL_ICONS.failed : TOOL_ICONS.done),
      el('span', { class: 'calls-title' }, sayCalls(said)),
      icon('chevron-right', 'chevron'),
    ),
    el(
      'div',
      { class: 'tool-body' },
      ...item.calls.map(call =>
        renderCall(
          call,
          old?.querySelector<HTMLElement>(`[data-key="${CSS.escape(call.key)}"]`) ?? undefined,
        ),
      ),
    ),
  );
  root.open = old instanceof HTMLDetailsElement && old.open;
  return root;
}

/** Input and output of a tool call. */
export function callBody(input: ShownText, output: ShownText, file?: ItemOf<'tool'>['file']): HTMLElement {
  const open = file && fileLink(file, l10n.t('Open {0}', shownFileName(file)));
  return el(
    'div',
    { class: 'tool-body' },
    open && el('div', {}, open),
    ...section(l10n.t('Input'), input),
    ...section(l10n.t('Result'), output),
  );
}

function statusWord(status: ItemOf<'tool'>['status']): string {
  switch (status) {
    case 'running':
      return l10n.t('running');
    case 'done':
      return l10n.t('done');
    case 'failed':
      return l10n.t('failed');
    case 'interrupted':
      return l10n.t('interrupted');
  }
}

function section(title: string, { text, length }: ShownText): HTMLElement[] {
  if (text === '') return [];
  const cut =
    length !== undefined && l10n.t('Truncated: {0} of {1} characters shown', MAX_SHOWN_CHARS, length);
  return [
    el('div', { class: 'caption' }, title),
    el('pre', { tabIndex: 0, aria: { label: title }, role: 'region' }, text, cut && `\n[${cut}]`),
  ];
}
