/** The pages of docs/ with a part that `npm run docs` writes. */
import { apiTypes } from './apiTypes.mjs';
import { factsOfOthers } from './factsOfOthers.mjs';
import { holdsSummary, holdsTable } from './holdsTable.mjs';
import { modelSentences } from './modelSentences.mjs';
import { protectedList } from './protectedList.mjs';
import { settingsTables } from './settingsTables.mjs';

/**
 * The functions that write a part of each page. A page with several parts names them.
 * @type {Readonly<Record<string, (part?: string) => Promise<string>>>}
 */
export const generatedPages = {
  'README.md': holdsSummary,
  'docs/agents.md': holdsTable,
  'docs/api.md': apiTypes,
  'docs/comparison.md': factsOfOthers,
  'docs/model-texts.md': modelSentences,
  'docs/settings.md': settingsTables,
  'docs/who-decides.md': protectedList,
};

const PART = /(<!-- written by npm run docs(?:: (\w+))? -->\n)[^]*?(<!-- end -->)/g;

/**
 * The page with its generated parts replaced.
 * @param {string} page
 * @param {(part?: string) => Promise<string>} makePart its text ends with a line break
 * @throws {Error} when the page does not mark such a part
 */
export async function withGenerated(page, makePart) {
  const parts = [...page.matchAll(PART)];
  if (parts.length === 0) throw new Error('The page has no part that begins with “written by npm run docs”.');
  const made = await Promise.all(parts.map(([, , name]) => makePart(name)));
  return page.replace(PART, (_, begin, _name, end) => `${begin}\n${made.shift()}\n${end}`);
}
