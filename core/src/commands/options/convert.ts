import { echo } from '../answers/echo.js';
import { parseBoolean } from './boolean.js';
import { choose } from './choice.js';
import { parseDuration } from './duration.js';
import { findChannel } from './find/channel.js';
import { findMember } from './find/member.js';
import { findRole } from './find/role.js';
import { findUser } from './find/user.js';
import type { Found, Place } from './place.js';
import type { OptionKind, OptionSpec } from './spec.js';

/** What a member gave for one option: words of a message, or the value of a slash option. */
export type GivenValue = string | number | boolean;

type Converter = (spec: OptionSpec, typed: string, place: Place) => Found<unknown> | Promise<Found<unknown>>;

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

const CONVERTERS: Readonly<Record<OptionKind, Converter>> = {
  text: (_spec, typed) => ({ value: typed }),
  rest: (_spec, typed) => ({ value: typed }),
  integer: (spec, typed) => number(spec, typed, 'a whole number'),
  number: (spec, typed) => number(spec, typed, 'a number'),
  boolean: (spec, typed) => orProblem(parseBoolean(typed), spec, typed, 'yes or no'),
  duration: (spec, typed) => orProblem(parseDuration(typed), spec, typed, 'a duration such as `90s` or `1h30m`'),
  choice: (spec, typed) => choose(spec.name, spec.choices, typed),
  user: (_spec, typed, place) => findUser(place, typed),
  member: (spec, typed, { guild }) => (guild === null ? outsideGuild(spec) : findMember(guild, typed)),
  role: (spec, typed, { guild }) => (guild === null ? outsideGuild(spec) : findRole(guild, typed)),
  channel: (spec, typed, { guild }) =>
    guild === null ? outsideGuild(spec) : findChannel(guild, typed, spec.channelTypes),
  attachment: (spec, typed, { attachments }) => orProblem(attachments.get(typed), spec, typed, 'a file'),
};

/** Turns what was given into what the option's schema takes. */
export function convert(spec: OptionSpec, given: GivenValue, place: Place): Found<unknown> | Promise<Found<unknown>> {
  // Slash options of these kinds arrive as what they are.
  if (typeof given !== 'string') return { value: given };
  return CONVERTERS[spec.kind](spec, given, place);
}

function number(spec: OptionSpec, typed: string, what: string): Found<unknown> {
  return orProblem(NUMBER.test(typed) ? Number(typed) : undefined, spec, typed, what);
}

function orProblem(value: unknown, spec: OptionSpec, typed: string, what: string): Found<unknown> {
  return value === undefined ? { problem: `\`${spec.name}\` must be ${what}; you gave ${echo(typed)}.` } : { value };
}

function outsideGuild(spec: OptionSpec): Found<unknown> {
  return { problem: `\`${spec.name}\` must be a ${spec.kind} of a server, and this is a direct message.` };
}
