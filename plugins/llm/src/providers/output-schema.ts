import { z } from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The JSON Schema of what a model is asked to answer with. */
export function outputSchema(schema: z.ZodObject): JsonSchema {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' });
  return json;
}

const NODE = z.looseObject({
  type: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).default([]),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).default([]),
  oneOf: z.array(z.unknown()).default([]),
  allOf: z.array(z.unknown()).default([]),
  $defs: z.record(z.string(), z.unknown()).default({}),
});

/** Whether every object in the schema names all its keys and demands them: what providers ask for before they guarantee the form. */
export function isClosed(schema: unknown): boolean {
  const node = NODE.safeParse(schema).data;
  if (node === undefined) return schema === undefined;
  if ('default' in node) return false;
  if (node.type === 'object') {
    const keys = Object.keys(node.properties ?? {});
    if (node.additionalProperties !== false || keys.some((key) => !node.required.includes(key))) return false;
  }
  const children = [node.items, ...node.anyOf, ...node.oneOf, ...node.allOf];
  return [...children, ...Object.values(node.properties ?? {}), ...Object.values(node.$defs)].every(isClosed);
}
