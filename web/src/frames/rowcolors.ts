// The colors of rows: the rules of the person or, until there are any, those of the project.

import { type ColorRule, mostColors } from "../api/frames";
import { keep, recall, recallList } from "../kit/store";
import type { ProjectList } from "./projectlist";

const most = 8192; // characters of a filter

function isColor(value: unknown): value is ColorRule {
  return typeof value === "object" && value !== null && "filter" in value && typeof value.filter === "string" && value.filter !== "" && value.filter.length <= most &&
    "hue" in value && Number.isInteger(value.hue) && Number(value.hue) >= 1 && Number(value.hue) <= 8;
}

export class RowColors {
  private readonly shared: Pick<ProjectList, "project" | "colors">;
  private readonly key: string;

  constructor(shared: Pick<ProjectList, "project" | "colors">) {
    this.shared = shared;
    this.key = `colors.${shared.project}`;
  }

  /** The rules, the first of which counts. Rules of all projects, which earlier versions stored, count where there are no others. */
  get rules(): ColorRule[] {
    const own = recall(this.key) !== undefined;
    const { colors } = this.shared;
    return (!own && colors.length > 0 ? colors : recallList(own ? this.key : "colors", isColor)).slice(0, mostColors);
  }

  /** Stores the rules of the person; undefined for those of the project. Returns the rules that count then. */
  put(rules: readonly ColorRule[] | undefined): ColorRule[] {
    keep(this.key, rules ?? null);
    return [...(rules ?? this.shared.colors)];
  }
}

/** The rules with another color of a type; 0 for none. */
export function withColor(rules: readonly ColorRule[], type: string, hue: number): ColorRule[] {
  const rest = rules.filter((c) => c.filter !== type);
  return hue === 0 ? rest : [{ filter: type, hue }, ...rest].slice(0, mostColors);
}
