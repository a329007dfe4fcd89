import { fileLink } from '../fileLink.ts';
import type { Port } from '../port.ts';
import type { MarkdownPort } from './markdown.ts';

/** What rendered Markdown needs of the panel. */
export function markdownPort({ strings: { copy, copied }, post }: Port): MarkdownPort {
  return {
    copy,
    copied,
    openLink: url => post({ type: 'openLink', url }),
    fileLink: (file, label) => fileLink(file, label, post),
  };
}
