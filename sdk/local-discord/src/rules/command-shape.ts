import { type APIApplicationCommandOption, ApplicationCommandOptionType as T } from 'discord-api-types/v10';
import type { FormIssue } from '../errors.js';

const NAME = /^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u;
const CONTAINERS: ReadonlySet<T> = new Set([T.Subcommand, T.SubcommandGroup]);

export function isChatInputName(name: string): boolean {
  return NAME.test(name) && name === name.toLowerCase();
}

/** Structure only; what is wrong inside is told by `checkOptions`. */
export function isCommandOption(value: unknown): value is APIApplicationCommandOption {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    typeof value.type === 'number' &&
    'name' in value &&
    typeof value.name === 'string' &&
    'description' in value &&
    typeof value.description === 'string'
  );
}

/** Discord's complaints about a command's options. See https://discord.com/developers/docs/interactions/application-commands */
export function checkOptions(options: readonly APIApplicationCommandOption[]): FormIssue[] {
  const issues: FormIssue[] = [];
  if (options.length > 25) issues.push({ path: [], ...badLength(0, 25) });
  const names = new Set<string>();
  let optionalSeen = false;
  for (const [index, option] of options.entries()) {
    for (const issue of checkOption(option)) issues.push({ ...issue, path: [index, ...issue.path] });
    if (names.has(option.name)) {
      issues.push({
        path: [index],
        code: 'APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS',
        message: 'Option name already exists',
      });
    }
    names.add(option.name);
    const optional = !CONTAINERS.has(option.type) && !option.required;
    if (optionalSeen && option.required) {
      const message = 'Required options must be placed before non-required options';
      issues.push({ path: [index], code: 'APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID', message });
    }
    optionalSeen ||= optional;
  }
  const containers = options.filter((option) => CONTAINERS.has(option.type)).length;
  if (containers > 0 && containers < options.length) {
    const message = 'Sub-command and sub-command group option types are mutually exclusive to all other types';
    issues.push({ path: [], code: 'APPLICATION_COMMAND_OPTIONS_TYPE_INVALID', message });
  }
  return issues;
}

function checkOption(option: APIApplicationCommandOption): FormIssue[] {
  const issues: FormIssue[] = [];
  if (T[option.type] === undefined) {
    issues.push({
      path: ['type'],
      code: 'BASE_TYPE_CHOICES',
      message: 'Value must be one of {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}.',
    });
  }
  if (!isChatInputName(option.name)) {
    issues.push({ path: ['name'], code: 'APPLICATION_COMMAND_INVALID_NAME', message: 'Command name is invalid' });
  }
  if (option.description.length < 1 || option.description.length > 100) {
    issues.push({ path: ['description'], ...badLength(1, 100) });
  }
  if ('choices' in option && option.choices) issues.push(...checkChoices(option.choices));
  if ('options' in option && option.options) {
    for (const issue of checkOptions(option.options)) issues.push({ ...issue, path: ['options', ...issue.path] });
  }
  return issues;
}

function checkChoices(choices: readonly { name: string; value: string | number }[]): FormIssue[] {
  const issues: FormIssue[] = [];
  if (choices.length > 25) issues.push({ path: ['choices'], ...badLength(0, 25) });
  for (const [index, choice] of choices.entries()) {
    if (choice.name.length < 1 || choice.name.length > 100)
      issues.push({ path: ['choices', index, 'name'], ...badLength(1, 100) });
  }
  return issues;
}

function badLength(min: number, max: number) {
  return { code: 'BASE_TYPE_BAD_LENGTH', message: `Must be between ${min} and ${max} in length.` };
}
