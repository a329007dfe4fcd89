import { parentPort, workerData } from 'node:worker_threads';
import { LineMatcher, type LineQuery } from './lineMatcher.ts';

/** A text to search for at most `limit` lines. The reply is the result of `LineMatcher.find`. */
export interface TextToSearch {
  readonly text: string;
  readonly limit: number;
}

if (parentPort) {
  const port = parentPort;
  const { query, isRegex } = workerData as LineQuery;
  const matcher = new LineMatcher(query, isRegex);
  port.on('message', ({ text, limit }: TextToSearch) => port.postMessage(matcher.find(text, limit)));
}
