import type { OptionShape } from '@cinnabar/sdk';
import { describeOption } from '../options/describe.js';
import type { OptionSpec } from '../options/spec.js';
import { MAX_OPTIONS } from '../slash/limits.js';
import { checkDescription, checkName, refuse } from './naming.js';

/**
 * The options of one command, checked.
 * @param command full name, for the messages
 * @throws CINNABAR_NAME_INVALID with the option and what is wrong with it
 */
export function describeOptions(command: string, shape: OptionShape): readonly OptionSpec[] {
  const specs = Object.entries(shape).map(([name, schema]) => {
    const shown = `${command} ${name}`;
    checkName('option', name, shown);
    const spec = describeOption(name, schema);
    if (spec === undefined) {
      return refuse('option', shown, 'a member cannot type such a value; use text, numbers, choices or `option.…`');
    }
    checkDescription('option', shown, spec.description);
    return spec;
  });
  if (specs.length > MAX_OPTIONS) {
    refuse('command', command, `it has ${specs.length} options, and Discord allows ${MAX_OPTIONS}`);
  }
  checkOrder(command, specs);
  return specs;
}

function checkOrder(command: string, specs: readonly OptionSpec[]): void {
  let optional: OptionSpec | undefined;
  for (const [index, spec] of specs.entries()) {
    const shown = `${command} ${spec.name}`;
    if (spec.required && optional !== undefined) {
      refuse('option', shown, `it is required but comes after the optional \`${optional.name}\``);
    }
    if (spec.kind === 'rest' && index < specs.length - 1) {
      refuse('option', shown, 'it takes the rest of the message, so it must come last');
    }
    if (!spec.required) optional ??= spec;
  }
}
