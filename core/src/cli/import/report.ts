/** What an import did, or would do. */
export interface Written {
  readonly files: readonly { readonly shown: string; readonly keys: readonly string[] }[];
  readonly calls: readonly { readonly bot: string; readonly folder: string; readonly count: number }[];
}

/** The report for people, in sections; those with nothing in them are left out. */
export function reportText({ files, calls }: Written, { all }: Findings, dryRun: boolean): string {
  const would = dryRun ? 'would be ' : '';
  const secrets = [
    ...new Set(all.secrets.map(({ variable, file, from }) => `${variable} in ${file} (it is in ${from})`)),
  ];
  const sections: readonly (readonly [title: string, lines: readonly string[]])[] = [
    [`Configuration that ${would || 'was '}written`, files.map(({ shown, keys }) => `${shown}: ${keys.join(', ')}`)],
    [
      `Tool calls that ${would || 'were '}taken over`,
      calls.map(({ bot, folder, count }) => `${bot}: ${count}, into ${folder}`),
    ],
    ['Secrets were not copied. Set these variables', secrets],
    ['To know', all.notes],
    ['Left out', all.leftOut],
    ['There already, and not touched', all.conflicts],
  ];
  const text = sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `${title}:\n${lines.map((line) => `  ${line}\n`).join('')}`)
    .join('\n');
  return text === '' ? 'There was nothing new to take over.\n' : text;
}

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
