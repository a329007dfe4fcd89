/** The lines of docs/comparison.md that say something of another program. */
import * as fs from 'node:fs';
import { inRepo } from '../lib/paths.mjs';

/**
 * @typedef {object} Fact
 * @property {string} topic the part of the page
 * @property {string} program
 * @property {string} [version] the version that it was read or run for, if its source names one
 * @property {string} claim one sentence
 * @property {readonly { readonly title: string, readonly url: string }[]} evidence
 * @property {'read' | 'ran'} how whether we read it there or ran the program
 * @property {string} date when, `2026-11-25`
 */

/** @returns {readonly Fact[]} */
export function readFacts() {
  return JSON.parse(fs.readFileSync(inRepo('docs/facts.json'), 'utf8'));
}

/**
 * One line for each fact of a topic.
 * @param {string} [topic]
 * @returns {Promise<string>} markdown
 */
export async function factsOfOthers(topic) {
  const facts = readFacts().filter(fact => fact.topic === topic);
  return facts.map(fact => `- ${lineOf(fact)}\n`).join('');
}

/** @param {Fact} fact */
function lineOf({ program, claim, evidence, how, date }) {
  const sources = evidence.map(({ title, url }) => `[${title}](${url})`).join(', ');
  return `**${program}:** ${claim} (${sources}; ${how === 'ran' ? 'ran ' : ''}${date})`;
}
