"""From a plan to loops: where every line's value lives (`places`), the code of each stage (`stage_code`), whole functions (`function`)."""
