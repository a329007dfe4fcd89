/** The pages of docs/ with a part that `npm run docs` writes. */
import { apiTypes } from './apiTypes.mjs';
import { holdsTable } from './holdsTable.mjs';
import { modelSentences } from './modelSentences.mjs';
import { settingsTables } from './settingsTables.mjs';

/** What writes the part of each page. @type {Readonly<Record<string, () => Promise<string>>>} */
export const generatedPages = {
  'docs/agents.md': holdsTable,
  'docs/api.md': apiTypes,
  'docs/model-texts.md': modelSentences,
  'docs/settings.md': settingsTables,
};

const PART = /(<!-- written by npm run docs -->\n)[^]*(<!-- end -->)/;

/**
 * The page with its generated part replaced.
 * @param {string} page
 * @param {string} part ends with a line break
 * @throws {Error} when the page does not mark such a part
 */
export function withGenerated(page, part) {
  if (!PART.test(page)) throw new Error('The page has no part that begins with “written by npm run docs”.');
  return page.replace(PART, (_, begin, end) => `${begin}\n${part}\n${end}`);
}
