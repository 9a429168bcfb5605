/** What an import has to tell, collected while it is planned and carried out. */
export interface Findings {
  /** Something that was not taken over, and why. */
  leftOut(sentence: string): void;
  /** Something that is there already and differs. */
  conflict(sentence: string): void;
  note(sentence: string): void;
  /** A secret that belongs into the environment. */
  secret(variable: string, file: string, from: string): void;
  readonly all: {
    readonly leftOut: readonly string[];
    readonly conflicts: readonly string[];
    readonly notes: readonly string[];
    readonly secrets: readonly { readonly variable: string; readonly file: string; readonly from: string }[];
  };
}

export function createFindings(): Findings {
  const leftOut: string[] = [];
  const conflicts: string[] = [];
  const notes: string[] = [];
  const secrets: { readonly variable: string; readonly file: string; readonly from: string }[] = [];
  return {
    leftOut: (sentence) => void leftOut.push(sentence),
    conflict: (sentence) => void conflicts.push(sentence),
    note: (sentence) => void notes.push(sentence),
    secret: (variable, file, from) => void secrets.push({ variable, file, from }),
    all: { leftOut, conflicts, notes, secrets },
  };
}
