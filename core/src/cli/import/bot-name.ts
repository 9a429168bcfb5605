import { botNameProblem } from '../../config/names.js';
import type { Findings } from './findings.js';

/** A bot's name as `--bot` takes it. */
export function nameHere(theirs: string, shown: string, findings: Findings): string | undefined {
  const name = theirs.trim().replace(/[^A-Za-z0-9_.-]+/g, '-');
  const problem = botNameProblem(name);
  if (problem !== undefined) {
    findings.leftOut(`${shown}: the bot's name ${problem}`);
    return undefined;
  }
  if (name !== theirs) findings.note(`${shown}: the bot is called ${name} here`);
  return name;
}
