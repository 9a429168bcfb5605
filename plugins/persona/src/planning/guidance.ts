import { type PersonaChain, type ToolInfo, z } from '@cinnabar/sdk';
import type { Action } from '../actions/action.js';
import { inert } from '../conversation/render.js';

/** The planner's list of what can be done: each action with the context that it needs and the form of its result. */
export function planningGuidance(actions: readonly Action[], chains: readonly PersonaChain[]): string {
  const names = new Set(actions.map(({ name }) => name));
  const lines = actions.flatMap(({ name, description, contextNeeded, result, after }) => [
    `- ${name}: ${description}`,
    `  Context needed: ${contextNeeded}`,
    ...(Object.keys(result.shape).length === 0 ? [] : [`  Result: ${formOf(result)}`]),
    ...(after.length === 0 ? [] : [`  Comes after: ${after.join(', ')}`]),
  ]);
  const usable = chains.filter(({ actions: parts }) => parts.some((part) => names.has(part)));
  const more = usable.map(
    ({ name, description, actions: parts }) =>
      `- ${name}: ${description} (${parts.filter((part) => names.has(part)).join(', ')})`,
  );
  return [...lines, ...(more.length === 0 ? [] : ['Chains, each one name for several actions:', ...more])].join('\n');
}

/** Of one tool's description, and of its parameters: foreign servers write what they like. */
const LONGEST_DESCRIPTION = 600;
const LONGEST_PARAMETERS = 4_000;

/** The tools for `USE_TOOL`, a JSON object each: what a description says is data, on its own line, and never stands at the margin. */
export function toolGuidance(tools: readonly ToolInfo[]): string {
  return tools.map((tool) => `- ${inert(dataOf(tool))}`).join('\n');
}

function dataOf({ name, description, inputSchema }: ToolInfo): Readonly<Record<string, unknown>> {
  const { $schema: _dialect, ...parameters } = inputSchema;
  const { properties } = parameters;
  const isShort = JSON.stringify(parameters).length <= LONGEST_PARAMETERS;
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  return {
    tool: name,
    description:
      description.length <= LONGEST_DESCRIPTION ? description : `${description.slice(0, LONGEST_DESCRIPTION)}…`,
    parameters: isShort ? parameters : { properties: names.slice(0, 50).map((one) => one.slice(0, 100)) },
  };
}

const FIELD = z.looseObject({
  type: z.unknown().optional(),
  anyOf: z.array(z.looseObject({ type: z.unknown().optional() })).optional(),
  description: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
});

/** `{"mood": string (The mood in a word or two), "intensity": number (0 to 10)}` */
function formOf(result: z.ZodObject): string {
  const { properties = {} } = z.toJSONSchema(result, { io: 'input', unrepresentable: 'any' });
  const fields = Object.entries(properties).map(([name, schema]) => {
    const field = FIELD.safeParse(schema).data ?? {};
    const note = field.description === undefined ? '' : ` (${field.description})`;
    return `${JSON.stringify(name)}: ${kindOf(field)}${note}`;
  });
  return `{${fields.join(', ')}}`;
}

function kindOf({ type, anyOf, enum: values }: z.output<typeof FIELD>): string {
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ');
  const types = anyOf?.map((one) => one.type) ?? [type];
  return types.map((one) => (typeof one === 'string' ? one : 'value')).join(' | ');
}
