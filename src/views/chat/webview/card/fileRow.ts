import * as l10n from '@vscode/l10n';
import { html, nothing, type TemplateResult } from 'lit-html';
import { escapeInvisible } from '../../../plainText.ts';
import { kindIcons } from '../../../texts/previewWords.ts';
import type { FileRow } from '../../protocol.ts';
import { post } from '../host.ts';
import { icon, stat } from '../templates.ts';

/** A file of a preview, which opens its diff. @param state the outcome of its change, if it is to be shown */
export function fileButton(file: FileRow, id: string, state?: string): TemplateResult {
  const path = escapeInvisible(file.path);
  const slash = path.lastIndexOf('/');
  const folder = slash < 0 ? nothing : html`<span class="file-folder">${path.slice(0, slash)}</span>`;
  const moved = file.from === undefined ? path : `${escapeInvisible(file.from)} → ${path}`;
  const change = changeWord(file.change);
  return html`<button
    type="button"
    class="file ${file.change}"
    title="${moved} (${change})"
    @click=${() => post({ type: 'open', id, path: file.path })}
  >
    ${icon(kindIcons[file.change], 'change-icon')}
    <span class="file-path"><span class="file-name">${path.slice(slash + 1)}</span>${folder}</span>
    <span class="hidden"> ${change} </span>
    ${state === undefined ? nothing : html`<span class="file-state">${state}</span>`}
    ${file.stat ? stat(file.stat) : nothing}
  </button>`;
}

/** The change in words, for screen readers. */
function changeWord(change: FileRow['change']): string {
  switch (change) {
    case 'modify':
      return l10n.t('modified');
    case 'create':
      return l10n.t('new file');
    case 'delete':
      return l10n.t('deleted');
    case 'rename':
      return l10n.t('renamed');
  }
}
