import * as z from 'zod/mini';
import { textResult } from '../../../hold/preview/pendingAction.ts';
import { defineTool, type Tool } from '../tool.ts';
import type { HostConsent } from './fetchPage.ts';

/** `fetch_url`: reads a page of the web, from a host that the user allows. */
export function fetchUrlTool(consent: HostConsent): Tool {
  return defineTool({
    name: 'fetch_url',
    label: 'Fetch URL',
    description: 'Read a web page or text file. The user is asked about each host.',
    parameters: z.object({ url: z.string().check(z.minLength(1), z.maxLength(4_000)) }),
    readOnly: true,
    isEnabled: consent.isAvailable,
    async execute({ url }, { signal }) {
      const { fetchPage } = await import('./fetchPage.ts');
      return textResult(await fetchPage(url, consent, signal));
    },
  });
}
