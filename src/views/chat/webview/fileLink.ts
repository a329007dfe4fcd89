import { button } from './dom.ts';
import { shownFileName, type NamedFile } from './fileNames.ts';
import { post } from './host.ts';

/** Opens the file at its line. */
export function fileLink(file: NamedFile, label: string): HTMLButtonElement {
  return button({
    class: 'file-link',
    label,
    title: shownFileName(file),
    onClick: () =>
      post({ type: 'openFile', path: file.path, ...(file.line === undefined ? {} : { line: file.line }) }),
  });
}
