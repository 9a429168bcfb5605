import type Anthropic from '@anthropic-ai/sdk';
import type { LlmRequest } from '@cinnabar/sdk';
import { isClosed, outputSchema } from '../output-schema.js';

/** How structured output is asked for: as the API's own format where the schema fits it, else as a tool that must be called. */
export type OutputForm =
  | { readonly kind: 'prose' }
  | { readonly kind: 'schema'; readonly format: Anthropic.JSONOutputFormat }
  | { readonly kind: 'tool'; readonly tool: Anthropic.Tool };

export function outputForm(output: LlmRequest['output']): OutputForm {
  if (output === undefined) return { kind: 'prose' };
  const schema = outputSchema(output.schema);
  return isClosed(schema) && !hasUnsupported(schema)
    ? { kind: 'schema', format: { type: 'json_schema', schema: { ...schema } } }
    : {
        kind: 'tool',
        tool: {
          name: output.name,
          description: 'Gives the answer. Always answer by calling this, with no other words.',
          input_schema: { ...schema, type: 'object' },
        },
      };
}

const UNSUPPORTED = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'oneOf',
]);

/** Keywords that the API's format refuses. A property may be called like one of them: then the tool is used, and nothing is lost. */
function hasUnsupported(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasUnsupported);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, child]) => UNSUPPORTED.has(key) || hasUnsupported(child));
}
