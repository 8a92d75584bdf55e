var e=["Blue","Green","Amber","Violet","Cyan","Rose","Olive","Gray"];export{e as a};
