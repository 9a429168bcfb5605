import { echo } from '../answers/echo.js';
import { nearest } from '../directory/nearest.js';
import type { Found } from './place.js';
import type { Choice } from './spec.js';

/** One of the choices, whatever its case; else what there is, with the nearest first in mind. */
export function choose(name: string, choices: readonly Choice[], typed: string): Found<unknown> {
  const folded = typed.toLowerCase();
  const chosen =
    choices.find((choice) => choice.label === typed) ?? choices.find((choice) => choice.label.toLowerCase() === folded);
  if (chosen !== undefined) return { value: chosen.value };
  const labels = choices.map((choice) => choice.label);
  const [near] = nearest(typed, labels);
  const hint = near === undefined ? '' : ` Did you mean ${echo(near)}?`;
  return { problem: `\`${name}\` must be one of ${labels.map(echo).join(', ')}; you gave ${echo(typed)}.${hint}` };
}
