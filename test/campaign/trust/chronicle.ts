import { markersIn } from './oracle.js';

const KEPT = 3_000;
const TOLD = 14;

/** A record of steps, so that a leak can be reported with the steps that led to it. */
export interface Chronicle {
  /** @param about places, people and messages of the step */
  note(text: string, about?: readonly { readonly id: string }[]): void;
  nextStep(): void;
  /** The latest steps. */
  latest(): readonly string[];
  /** The latest steps about a word, or about one of these places or people, oldest first. */
  of(marker: string, about: readonly string[]): readonly string[];
}

interface Happening {
  readonly step: number;
  readonly text: string;
  readonly keys: readonly string[];
}

export function createChronicle(): Chronicle {
  let happenings: Happening[] = [];
  let step = 0;
  return {
    nextStep() {
      step += 1;
    },
    note(text, about = []) {
      happenings.push({ step, text, keys: [...markersIn(text), ...about.map(({ id }) => id)] });
      if (happenings.length > 2 * KEPT) happenings = happenings.slice(-KEPT);
    },
    latest: () => happenings.slice(-2).map(({ step: at, text }) => `last, step ${at}: ${text}`),
    of(marker, about) {
      const isOfWord = ({ keys }: Happening) => keys.includes(marker);
      const first = happenings.find(isOfWord)?.step ?? 0;
      // A change of permissions is relevant when it concerns a place or person of the leak; a mere message there is not.
      const isChange = ({ step: at, keys, text }: Happening) =>
        at >= first && !/ says "| edits "/.test(text) && keys.some((key) => about.includes(key));
      return happenings
        .filter((one) => isOfWord(one) || isChange(one))
        .slice(-TOLD)
        .map(({ step: at, text }) => `step ${at}: ${text}`);
    },
  };
}
