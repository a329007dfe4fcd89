import { parentPort, workerData } from 'node:worker_threads';
import { matchLines, type MatchQuery } from '../../../agent/sandbox/checks/problems/matchLines.ts';
import { LineMatcher, type LineQuery } from './lineMatcher.ts';

/** A text to search for at most `limit` lines. The reply is the result of `LineMatcher.find`. */
export interface TextToSearch {
  readonly text: string;
  readonly limit: number;
}

/** Runs the patterns of others: one on text after text, or those of problem matchers on a single text. */
if (parentPort) {
  const port = parentPort;
  const data = workerData as LineQuery | MatchQuery;
  if ('matchers' in data) port.postMessage(matchLines(data));
  else {
    const matcher = new LineMatcher(data.query, data.isRegex);
    port.on('message', ({ text, limit }: TextToSearch) => port.postMessage(matcher.find(text, limit)));
  }
}
