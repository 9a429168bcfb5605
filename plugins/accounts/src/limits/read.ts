import type { BudgetLimits, ConfigLayer, DayLimit } from '@cinnabar/sdk';
import type { Holder } from './judge.js';
import { HOLDERS, LIMITS } from './schema.js';

export interface BudgetReading {
  readonly limits: BudgetLimits;
  /** A sentence for each mistake, with file, line and key. */
  readonly problems: readonly string[];
}

type LimitName = keyof typeof LIMITS;
type Limits = ReadonlyMap<`${Holder}.${LimitName}`, number | undefined>;
const NAMES: readonly LimitName[] = ['tokensPerDay', 'usdPerDay'];

/** The limits that are in force, the narrowest layer's last. One that cannot be read is 0: a mistake must not cost money. */
export function readBudgets(layers: readonly ConfigLayer[]): BudgetReading {
  const problems: string[] = [];
  const limits = new Map(layers.flatMap((layer) => [...readLayer(layer, problems)]));
  const of = (holder: Holder): DayLimit => ({
    tokensPerDay: limits.get(`${holder}.tokensPerDay`),
    usdPerDay: limits.get(`${holder}.usdPerDay`),
  });
  return { limits: { guild: of('guild'), channel: of('channel'), member: of('member') }, problems };
}

function readLayer({ source, values, lineOf }: ConfigLayer, problems: string[]): Limits {
  const found = new Map<`${Holder}.${LimitName}`, number | undefined>();
  const reject = (path: readonly string[], holders: readonly Holder[], names: readonly LimitName[], why: string) => {
    for (const holder of holders) for (const name of names) found.set(`${holder}.${name}`, 0);
    problems.push(`${source}:${lineOf(path)}: ${path.join('.')}: ${why}. Until it is put right, nothing may be spent.`);
  };

  const { budgets } = values;
  if (budgets === undefined || budgets === null) return found;
  if (!isRecord(budgets)) reject(['budgets'], HOLDERS, NAMES, 'must be keys with values');
  else
    for (const [whose, group] of Object.entries(budgets)) {
      const holder = HOLDERS.find((name) => name === whose);
      if (holder === undefined)
        reject(['budgets', whose], HOLDERS, NAMES, `there is no such key; there are ${HOLDERS.join(', ')}`);
      else if (isRecord(group)) readGroup(holder, group);
      else if (group !== null) reject(['budgets', whose], [holder], NAMES, 'must be keys with values');
    }

  function readGroup(holder: Holder, group: Readonly<Record<string, unknown>>): void {
    // Limits first: what a misspelt key sets to 0 stays 0.
    for (const name of NAMES) {
      if (!(name in group)) continue;
      const path = ['budgets', holder, name];
      if (group[name] === null) found.set(`${holder}.${name}`, undefined);
      else {
        const parsed = LIMITS[name].safeParse(group[name]);
        if (parsed.success) found.set(`${holder}.${name}`, parsed.data);
        else reject(path, [holder], [name], parsed.error.issues[0]?.message ?? 'not valid');
      }
    }
    for (const other of Object.keys(group).filter((name) => !(name in LIMITS)))
      reject(['budgets', holder, other], [holder], NAMES, `there is no such key; there are ${NAMES.join(', ')}`);
  }
  return found;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
