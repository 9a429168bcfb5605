import type { ModelTool } from './llm.js';
import type { ToolInfo } from './tools.js';

type JsonSchema = Readonly<Record<string, unknown>>;

/** Providers take the schema itself; its dialect is theirs to know. */
function withoutDialect({ $schema: _dialect, ...schema }: JsonSchema): Record<string, unknown> {
  return schema;
}

/** For OpenAI's Responses API. Not strict: optional arguments with defaults are not expressible there. */
export function toOpenAiResponsesTool({ name, description, inputSchema }: ModelTool) {
  return { type: 'function', name, description, parameters: withoutDialect(inputSchema), strict: false } as const;
}

/** For Chat Completions, OpenAI's and those of compatible servers. */
export function toOpenAiChatTool({ name, description, inputSchema }: ModelTool) {
  return { type: 'function', function: { name, description, parameters: withoutDialect(inputSchema) } } as const;
}

/** For Anthropic's Messages API. */
export function toAnthropicTool({ name, description, inputSchema }: ModelTool) {
  return { name, description, input_schema: { ...withoutDialect(inputSchema), type: 'object' } } as const;
}

/** For the Model Context Protocol, whose hints follow from the declared risk. */
export function toMcpTool({ name, description, inputSchema, risk }: ToolInfo) {
  return {
    name,
    description,
    inputSchema: { ...inputSchema, type: 'object' },
    annotations: { readOnlyHint: risk === 'read', destructiveHint: risk === 'destructive' },
  } as const;
}
