import { existsSync } from 'node:fs';
import { repeatedSpeech } from '@cinnabar/plugin-persona/dist/running/repetition.js';
import { createChance } from './memory/chance.js';
import { type Line, linesIn } from './repetition/logs.js';
import { exact, type Plant, paraphrase, template } from './repetition/plants.js';
import { atLeast, type Figure, limit, percentile } from './report.js';

const DEFAULT_FOLDER = '../shared/data/irc';
const SEED = 2026;
const PLANTS = 5_000;

/**
 * Replays logs of people as if each were a persona whose messages are checked for repetition. People also repeat themselves, and stopping that is correct: a
 * false positive is a stopped line that is not, word for word, among the speaker's last twenty. Both rates are reported.
 */
export async function* repetition(folder?: string): AsyncGenerator<Figure> {
  if (folder === undefined && !existsSync(DEFAULT_FOLDER)) {
    process.stderr.write(
      `There is no ${DEFAULT_FOLDER}: give a folder of logs, \`npm run bench -- repetition FOLDER\`.\n`,
    );
    return;
  }
  const lines = await linesIn(folder ?? DEFAULT_FOLDER);
  const took: number[] = [];
  const stops = (line: Line) => {
    const started = performance.now();
    const pattern = repeatedSpeech(line.text, line.said, line.trigger);
    took.push(performance.now() - started);
    return pattern !== undefined;
  };
  const share = (some: readonly Line[], of: readonly Line[]) => (100 * some.length) / of.length;

  const fresh = lines.filter(({ text, said }) => !said.some((before) => plain(before) === plain(text)));
  yield limit(
    `false stops in ${fresh.length} lines that repeat none exactly`,
    '%',
    share(fresh.filter(stops), fresh),
    1,
  );
  yield told(`stops in all ${lines.length} lines`, '%', share(lines.filter(stops), lines));

  for (const { name, plant, least } of [
    { name: 'planted exact repeats caught', plant: exact, least: 95 },
    { name: 'planted template repeats caught', plant: template, least: 80 },
    { name: 'planted paraphrases caught', plant: paraphrase, least: undefined },
  ]) {
    const planted = plantedIn(lines, plant);
    const caught = share(planted.filter(stops), planted);
    yield least === undefined ? told(name, '%', caught) : atLeast(name, '%', caught, least);
  }
  yield limit('one analysis, 99th percentile', 'ms', percentile(took, 99), 5);
}

/** Reported without an aim. */
const told = (name: string, unit: string, ours: number): Figure => ({
  name,
  unit,
  ours,
  peer: null,
  peerName: null,
  ratio: null,
  aim: 'for comparison',
  met: true,
});

function plantedIn(lines: readonly Line[], plant: Plant): readonly Line[] {
  const chance = createChance(SEED);
  const planted: Line[] = [];
  while (planted.length < PLANTS) {
    const line = chance.pick(lines);
    const text = plant(line, chance, lines);
    if (text !== undefined) planted.push({ ...line, text });
  }
  return planted;
}

const plain = (text: string): string => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');
