import { type Chance, createChance } from './chance.js';
import { DOCUMENT_NAMES, type DocumentName } from './documents.js';

/** The content of a document: the operation that wrote it, the number of updates since it was set, and a large text. */
export interface Content {
  readonly n: number;
  readonly count: number;
  readonly payload: string;
}
/** `undefined`: never saved, or deleted. */
export type State = Content | undefined;

export interface Operation {
  readonly document: DocumentName;
  readonly kind: 'set' | 'update' | 'delete';
  readonly n: number;
  readonly payload: string;
}

/** The infinite sequence of operations of a round. Writer and verifier generate the same sequence from the same seed. */
export function* operationsOf(seed: number): Generator<Operation, never> {
  const chance = createChance(seed);
  for (let n = 0; ; n += 1) yield operation(n, chance);
}

function operation(n: number, chance: Chance): Operation {
  const document = chance.pick(DOCUMENT_NAMES);
  const kind = chance.pick(['set', 'set', 'update', 'update', 'update', 'delete']);
  const size = chance.below(20) === 0 ? 20_000 : chance.below(400);
  return { document, kind, n, payload: `${n}:`.padEnd(size, 'é"\\\n') };
}

/** The content of a document after an operation. */
export function apply(before: State, { kind, n, payload }: Operation): State {
  if (kind === 'delete') return undefined;
  if (kind === 'set') return { n, count: 0, payload };
  return { n, count: (before?.count ?? 0) + 1, payload: before?.payload ?? '' };
}
