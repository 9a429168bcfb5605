/** Where two values differ: `options.0.min_value`. */
export function* differingPaths(path: string, before: unknown, after: unknown): Generator<string> {
  if (Object.is(before, after)) return;
  if (!isComposite(before) || !isComposite(after)) {
    yield path;
    return;
  }
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const key of keys) yield* differingPaths(`${path}.${key}`, get(before, key), get(after, key));
}

function isComposite(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function get(value: object, key: string): unknown {
  return Reflect.get(value, key);
}
