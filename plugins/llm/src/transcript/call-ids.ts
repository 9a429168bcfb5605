const FITS_EVERY_PROVIDER = /^[a-zA-Z0-9_-]{1,64}$/;

/** Hands out ids for calls: their own where every provider takes it and it is not used twice, else a new one. */
export function createCallIds(): (wanted: string) => string {
  const used = new Set<string>();
  return (wanted) => {
    let id = wanted;
    for (let number = 1; used.has(id) || !FITS_EVERY_PROVIDER.test(id); number++) id = `call_${number}`;
    used.add(id);
    return id;
  };
}

/** A tool name that every provider takes: models sometimes call names that do not exist. */
export function callableName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
}
