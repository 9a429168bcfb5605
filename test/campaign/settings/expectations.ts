import { isDeepStrictEqual } from 'node:util';
import type { Damage } from './damage.js';
import { DOCUMENT_NAMES, type DocumentName } from './documents.js';
import type { Witness } from './killing.js';
import { apply, operationsOf, type State } from './operations.js';

/** The possible contents of a document: in its file, and in the copy that replaces a lost file. */
interface Tracked {
  readonly possible: readonly State[];
  readonly fallback: readonly State[];
}

/**
 * Tracks the possible contents of documents. Operations on one document are executed in the order in which they were started, so after a kill it contains the
 * result of the last acknowledged one, or of a later one. Its copy is at least as new as the last acknowledged one.
 */
interface Expectations {
  damaged(damage: Damage): void;
  written(seed: number, witness: Witness): void;
  /** Records the content that was found. @returns `false` when it is not possible */
  found(document: DocumentName, state: State): boolean;
  expected(document: DocumentName): readonly State[];
}

export function createExpectations(): Expectations {
  const tracked = new Map<DocumentName, Tracked>();
  const of = (document: DocumentName): Tracked =>
    tracked.get(document) ?? { possible: [undefined], fallback: [undefined] };

  return {
    damaged({ document, lost }) {
      const { possible, fallback } = of(document);
      if (lost === 'document') tracked.set(document, { possible: fallback, fallback });
      if (lost === 'copy') tracked.set(document, { possible, fallback: [...possible, undefined] });
      if (lost === 'both') tracked.set(document, { possible: [undefined], fallback: [undefined] });
    },
    written(seed, { started, saved }) {
      const endless = operationsOf(seed);
      const operations = Array.from({ length: started }, () => endless.next().value);
      for (const document of DOCUMENT_NAMES) {
        const before = of(document);
        const chain = [before.possible];
        let acknowledged = 0;
        for (const operation of operations.filter((one) => one.document === document)) {
          chain.push((chain.at(-1) ?? []).map((state) => apply(state, operation)));
          if (saved.has(operation.n)) acknowledged = chain.length - 1;
        }
        const possible = chain.slice(acknowledged).flat();
        tracked.set(document, { possible, fallback: acknowledged > 0 ? possible : [...before.fallback, ...possible] });
      }
    },
    found(document, state) {
      const { possible, fallback } = of(document);
      const isExpected = possible.some((one) => isDeepStrictEqual(one, state));
      tracked.set(document, { possible: [state], fallback: [...fallback, state] });
      return isExpected;
    },
    expected: (document) => of(document).possible,
  };
}
