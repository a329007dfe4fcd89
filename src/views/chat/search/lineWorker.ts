import { parentPort, workerData } from 'node:worker_threads';
import { matchLines, type MatchQuery } from '../../../agent/sandbox/checks/problems/matchLines.ts';
import { matchingLines, type LineQuery } from './lineMatcher.ts';

/** Runs untrusted patterns: one on many texts, or those of problem matchers on a single text. */
const data = workerData as LineQuery | MatchQuery;
parentPort?.postMessage('matchers' in data ? matchLines(data) : matchingLines(data));
